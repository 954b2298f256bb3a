/** Plans and graphs of tools for an intent that no habit answers. */
export type { KnownTool, PastPlan } from './past-plans.ts'
export { suggestGraph, type ToolSchema, toolSchemaOf } from './suggest-graph.ts'
export { learnPlans, type SuggestedPlan } from './suggest-plan.ts'
