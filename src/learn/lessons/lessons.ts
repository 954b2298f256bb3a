/**
 * What one run shows: its calls and their order, which value went where, and the graph that
 * they amount to.
 */
export { flowWeights } from './flow-weights.ts'
export { type ArgumentValue, argumentValuesOf, type FlowFeatures, flowsOf, groupsByCall, sharesOf } from './flows.ts'
export { flowsOfRun } from './flows-of-run.ts'
export { leavesOf } from './leaves.ts'
export { type Lesson, type LessonCall, type LessonSource, lessonOf, mayTeach, ownCalls } from './lesson.ts'
export { programCached } from './read-program.ts'
export { rebuildGraph } from './rebuild-graph.ts'
export { sequenceEdges } from './sequence.ts'
export { isBinding, type PlanShape, shapeOfPlan } from './shape.ts'
export type { Trace } from './traced-call.ts'
