/** Graphs of tasks for an intent that no habit answers. */
export { suggestGraph, type ToolSchema, toolSchemaOf } from './suggest-graph.ts'
