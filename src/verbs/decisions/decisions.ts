/**
 * What moves a run that waits: a decision, the fate of an uncertain call, a rule that is forgotten,
 * and resuming what was answered.
 */
export { cancelRun, decideApproval } from './decide.ts'
export { forgetLine } from './forget-rule.ts'
export { takeUp } from './resume-answered.ts'
export { type Settling, settleCall } from './settle.ts'
