/**
 * The state machine of a run: what happens enters, one step for each, and what follows is done and
 * recorded; or the record is played again to check that the same follows.
 */
export { checkReplay, type ReplayCheck } from './check-replay.ts'
export { Conductor } from './conductor.ts'
