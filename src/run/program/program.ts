/**
 * The program of a run: a plan enters, its prepared source leaves, then its turns, its output and
 * its share of the boxes. Refuses a plan that cannot be prepared. Loads the sandbox.
 */
export { type Makers, type Prepared, prepare, preparedCached, preparedFor } from './prepare.ts'
export { OutputRecorder } from './program-output.ts'
export { deliverTurn, nextCallId, type ProgramState, type ProgramTurn, RunPrograms, startTurn } from './run-programs.ts'
export { openBoxShare } from './share-boxes.ts'
