/**
 * A run as it is read from the record: its state, its answer, its open approvals, and the words
 * for them.
 */
export { aboutRun, aboutRunNow } from './about-run.ts'
export type {
  Approval,
  DiscoverAnswer,
  ErrorAnswer,
  ExecuteAnswer,
  ForgetAnswer,
  FoundCapability,
  MovedAnswer,
  Question,
  ReplayAnswer,
  ResultAnswer,
  RunAnswer,
  Suggestion,
} from './answers.ts'
export { announce, canResume, livingGateways } from './gateways.ts'
export { listRuns, type RunFilter } from './list-runs.ts'
export { allApprovals, isExpired } from './open-approvals.ts'
export { planOf } from './plan-of.ts'
export { cachedRawAnswer, rawAnswerOf } from './raw-answer.ts'
export { answerFrom, answerOf } from './run-answer.ts'
export { type CallView, notFound, type RunView, viewOf, viewRun } from './run-view.ts'
export { showRun } from './show-run.ts'
export { asksSomethingNew, until, whenAnswered } from './wait.ts'
