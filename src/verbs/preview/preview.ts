/** What a plan may call, before it runs, and the rule that a decision writes: the policy's side. */
export { withPlannedTools, withPreview } from './plan-preview.ts'
export { writtenRule } from './written-line.ts'
