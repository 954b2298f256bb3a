/**
 * The record folded into rows, the edges between tools that they amount to, and both
 * views of them.
 */
export { edgeWeight } from './edge.ts'
export { definitionView, type GraphView } from './graph-view.ts'
export type { Edge, Example, Knowledge, PastRun, Shape } from './knowledge.ts'
export { type Learner, openLearner, unjudged } from './learner.ts'
export { pinnedTool } from './pinned-tool.ts'
export { showLesson, viewOfRun } from './run-lesson.ts'
