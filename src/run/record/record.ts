/**
 * A run as its record tells it: events enter, the journal of its calls, what it spent, the time it
 * has left and how it ends leave. Calls nothing; refuses a record without its beginning, and a
 * program that does not ask again for what it asked.
 */
export { overspent, type Spent, spend } from './budget-spent.ts'
export { formatCallId, parseCallId } from './call-id.ts'
export { delivery, type Journal, newJournal, type RecordedCall, readJournal, serversOf } from './journal.ts'
export { leavesOf, pointersTo } from './json-leaves.ts'
export { Replay, type SameArguments } from './replay.ts'
export {
  cancelledBy,
  outcomeOf,
  programLate,
  type Settlement,
  type Stop,
  sandboxUnavailable,
  stalled,
} from './run-end.ts'
export { deadlineOf, timeLeft } from './time-left.ts'
