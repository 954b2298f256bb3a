/**
 * One call of a run: a tool and its arguments enter, a result leaves, after policy, approvals,
 * mocks and tries. Refuses to send what may not be sent, or not be sent again.
 */
export { denial, denied, expired, isAnswered, question, redactTyped, settledResult } from './approval.ts'
export type { CallContext, RunContext } from './call-context.ts'
export { definitionOf, hasCapabilities, isNested } from './call-definition.ts'
export { define, edit, effectOf } from './call-effect.ts'
export { type Conclusion, type Hidden, type Result, resolvedBody, resultOfProgram } from './call-result.ts'
export { isTimer } from './engine-tools.ts'
export type { FollowUp } from './follow-up.ts'
export { idempotencyKey } from './idempotency-key.ts'
export { InFlight } from './in-flight.ts'
export { judge, mayBeSent, needsNoApproval, policyVerdict, targetOf } from './judge-call.ts'
export { mockedArguments, mockResults, type RecordedResults, recordedResultsOf } from './mocks.ts'
export {
  type CallFacts,
  dueOf,
  isAsking,
  issuedBody,
  mayResend,
  newFacts,
  type OpenCall,
  reopened,
  type SendingCall,
  stopWaiting,
  type Target,
  withdrawal,
  withoutCode,
} from './open-call.ts'
export { progressReporter } from './report-progress.ts'
export { type Outcome, triesOf, tryUntilKnown } from './tries.ts'
export { wakeAt } from './wake.ts'
export { catalogQueue, type Maker, openLocalQueue, type Work, type WorkQueue } from './work-queue.ts'
