/**
 * Untrusted code in a box. A program's text goes in and comes back ready to run, or is refused with
 * its line; boxes run it in turns, say how well they are closed, and refuse to be silently weaker.
 */
export { acceptTier, type OutboundConnection, runscModule, type ScriptTier } from '#sandbox/host'
export { type PreparedProgram, prepareProgram } from '#sandbox/prepare'
export {
  checkScriptRequest,
  chosenImage,
  openImage,
  openScriptBoxes,
  rememberImage,
  type ScriptBoxes,
  type ScriptBoxesOptions,
  type ScriptInput,
  type ScriptRequest,
  type ScriptResult,
} from '#sandbox/script'
export type { WorkspaceView } from '#sandbox/script-box'
export { openServerBox, type ServerBox } from '#sandbox/server-box'
export type { BoxHealth } from './box-health.ts'
export { type Boxes, type BoxesOptions, openBoxes } from './boxes.ts'
export type { ProgramOptions } from './program.ts'
export { isolatedVmVersion } from './v8.ts'
