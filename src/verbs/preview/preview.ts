/** What a plan may call, before it runs, and the rule that a decision writes: the policy's side. */
export { named, planOf, withPreview } from './plan-preview.ts'
export { showRun } from './show-run.ts'
export { writtenLine } from './written-line.ts'
