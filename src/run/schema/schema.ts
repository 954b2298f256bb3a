/**
 * JSON Schema without a value: the schema at a pointer, whether two schemas can hold for one value,
 * and the smallest value of a schema. What a schema does not say for certain is not refused.
 */
export { sampleOf } from './sample.ts'
export { conflictOf, itemsOf, lacks, type Spot, spotAt } from './schema-at.ts'
