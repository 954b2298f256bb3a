/**
 * Which fields of one tool's answer correspond to which arguments of another, by their
 * schemas alone.
 */
export { fieldPairsOf } from './field-pairs.ts'
export { coverageOf, fieldSpecificity, providesOf } from './provides.ts'
export { fittingFields } from './provides-graph.ts'
export { type Field, shapeOf, type ToolShape, typeOf } from './tool-shape.ts'
