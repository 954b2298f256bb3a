/** The seam of the task graph, and its two drivers: a SQLite file, or a Neo4j server. */
export { type GraphAddress, graphIdentity, openGraphStore } from './open-store.ts'
export type { GraphReader, GraphStore, GraphWriter, Position, TaskQuery } from './store.ts'
