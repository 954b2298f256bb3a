/**
 * What the record teaches. openLearner() folds closed runs into learn.db, and its knowledge() says
 * what is known; beside it functions over plain data: traced calls enter, flows, edges, plans and
 * reusable capabilities leave. Nothing here changes a run, and nothing is refused.
 */
export { Adviser, type Asker, noAdviser, type Recalled } from './adviser.ts'
export { alignWords, wordsOf } from './align-words.ts'
export { fitTrees, type Trees } from './boosted-trees.ts'
export { calibrationError } from './calibration.ts'
export { type Capability, idOf } from './capability-status.ts'
export {
  capabilitiesToDemote,
  capabilitiesToLearn,
  type KnownShape,
  posteriorOf,
  type RunCall,
} from './decide-capabilities.ts'
export { fieldPairsOf } from './field-pairs.ts'
export { fillSlots } from './fill-slots.ts'
export { flowWeights } from './flow-weights.ts'
export { type ArgumentValue, argumentValuesOf, type FlowFeatures, flowsOf, groupsByCall, sharesOf } from './flows.ts'
export { definitionView, type GraphView } from './graph-view.ts'
export { type Learner, openLearner } from './learner.ts'
export { leavesOf } from './leaves.ts'
export { fitLogistic, type Logistic, predictLogistic } from './logistic.ts'
export { argumentsOfRun } from './make-capability.ts'
export { type HomeCapabilities, openCapabilities } from './open-capabilities.ts'
export type { KnownTool, PastPlan } from './past-plans.ts'
export { fieldSpecificity, providesOf } from './provides.ts'
export { joinParts, type RankParts } from './rank-history.ts'
export { type Habit, habitFeatures, type ReadIntent, readIntent, recallIntent } from './recall-intent.ts'
export { showLesson, viewOfRun } from './run-lesson.ts'
export { suggestGraph, type ToolSchema, toolSchemaOf } from './suggest-graph.ts'
export { learnPlans, type SuggestedPlan } from './suggest-plan.ts'
export { indexTexts } from './text-index.ts'
export { type Field, type ToolShape, typeOf } from './tool-shape.ts'
export type { Trace } from './traced-call.ts'
export { type Specificity, stemsOf } from './words.ts'
