/**
 * Plans from past plans: fitted on what a home did, it says which tools an intent will need and in
 * which order, as long as that foresees its past better than what near intents say.
 */
export type { WordScores } from './evidence.ts'
export { fitPlans } from './fit-plans.ts'
export { followPlans, plansDueAt } from './follow-plans.ts'
export {
  type Foretold,
  noPlanner,
  openPlanner,
  type Planner,
  type PlannerReport,
  readPlanner,
} from './planner.ts'
