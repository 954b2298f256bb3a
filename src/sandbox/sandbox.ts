/**
 * Untrusted code in a box. A program's text goes in and comes back ready to run, or is refused with
 * its line; boxes run it in turns, say how well they are closed, and refuse to be silently weaker.
 */
export type { BoxHealth } from './box-health.ts'
export { type Boxes, type BoxesOptions, openBoxes } from './boxes.ts'
export { type PreparedProgram, prepareProgram } from './prepare.ts'
export type { ProgramOptions } from './program.ts'
export type { ScriptBoxes, ScriptBoxesOptions } from './script/boxes.ts'
export { runscModule } from './script/fix.ts'
export { chosenImage, openImage, rememberImage } from './script/image.ts'
export type { ScriptInput } from './script/inputs.ts'
export type { OutboundConnection } from './script/outbound.ts'
export type { ScriptResult } from './script/outcome.ts'
export type { ScriptTier } from './script/plan.ts'
export { acceptTier } from './script/ratchet.ts'
export { parseRequest as checkScriptRequest, type ScriptRequest } from './script/request.ts'
export type { WorkspaceView } from './script/workspace-view.ts'
export { openScriptBoxes } from './script-boxes.ts'
export { openServerBox, type ServerBox } from './server-box.ts'
export { isolatedVmVersion } from './v8.ts'
