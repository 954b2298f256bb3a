/**
 * What the record teaches. openLearner() folds closed runs into learn.db, and its knowledge() says
 * what is known; beside it functions over plain data: traced calls enter, flows, edges, plans and
 * reusable capabilities leave. Nothing here changes a run, and nothing is refused.
 */

export type { AttentionReport } from '#learn/attention'
export {
  argumentsOfRun,
  type Capability,
  capabilitiesToDemote,
  capabilitiesToLearn,
  checkedAgain,
  fixedPlaces,
  fixturesOf,
  type HomeCapabilities,
  idOf,
  interventionOf,
  isUsable,
  type KnownShape,
  openCapabilities,
  posteriorOf,
  type RunCall,
  reachOf,
  shapeOfSource,
} from '#learn/capabilities'
export { type Field, fieldPairsOf, fieldSpecificity, providesOf, type ToolShape, typeOf } from '#learn/fields'
export {
  definitionView,
  type GraphView,
  type Learner,
  openLearner,
  pinnedTool,
  showLesson,
  viewOfRun,
} from '#learn/graph'
export {
  fillSlots,
  type Habit,
  habitFeatures,
  historyMin,
  joinParts,
  plannedPart,
  type RankParts,
  type ReadIntent,
  readIntent,
  recalledTools,
  recallIntent,
} from '#learn/intents'
export {
  type ArgumentValue,
  argumentValuesOf,
  type FlowFeatures,
  flowsOf,
  flowWeights,
  groupsByCall,
  leavesOf,
  sharesOf,
  type Trace,
} from '#learn/lessons'
export { type Blend, calibrationError, fitBlend, fitLogistic, type Logistic, predictLogistic } from '#learn/models'
export { fitPlans, openPlanner, plansDueAt } from '#learn/plans'
export { suggestGraph, type ToolSchema, toolSchemaOf } from '#learn/suggestion'
export { alignWords, indexTexts, type Specificity, stemsOf, wordsOf } from '#learn/text'
export { Adviser, type Asker, noAdviser, type Recalled } from './adviser.ts'
