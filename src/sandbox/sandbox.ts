/**
 * Untrusted code in a box. A program's text goes in and comes back ready to run, or is refused with its line; boxes run
 * it in turns, say how well they are closed, and refuse to be silently weaker.
 */
export { type Boxes, type BoxesOptions, type EngineIdentity, openBoxes } from './boxes.ts'
export { type PreparedProgram, prepareProgram } from './prepare.ts'
export type { ProgramOptions } from './program.ts'
