/**
 * What moves a run that waits: a decision, the fate of an uncertain call, a rule that is forgotten,
 * and resuming what was answered.
 */
export { cancelRun, decideApproval } from './decide.ts'
export { forgetRule } from './forget-rule.ts'
export { resumeAnswered } from './resume-answered.ts'
export { type Settlement, settleCall } from './settle.ts'
