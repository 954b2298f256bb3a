/**
 * What past intents say of a new one: the habit that it recalls, its values, and how likely
 * each tool is.
 */
export { bindArguments } from './bind-arguments.ts'
export { fillSlots } from './fill-slots.ts'
export {
  type Calibration,
  type Confidence,
  calibrationOf,
  type Foreseen,
  fitConfidence,
  foresee,
  type Outcome,
  outcomesOf,
  type ToolHabit,
} from './foresee.ts'
export { clipped, type NearIntent, openPastIntents, type PastIntent, type PastIntents } from './past-intents.ts'
export {
  type Hints,
  hintsOf,
  historyMin,
  historyVotes,
  joinParts,
  type Planned,
  plannedPart,
  type RankParts,
  recalledTools,
} from './rank-history.ts'
export { type ReadIntent, readIntent } from './read-intent.ts'
export { type Habit, habitFeatures, recallIntent } from './recall-intent.ts'
export { type Served, type Unmatched, unmatchedIn } from './unmatched.ts'
