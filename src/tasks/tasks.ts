/**
 * The task graph: missions, tasks and what joins them, in SQLite or Neo4j. In go the arguments of
 * tools as they came, and the call that asks; out come plain answers. Whatever breaks a rule of the
 * graph is refused with the code and context that AutoAgent's specification fixes, and leaves the
 * graph as it was.
 */

export { claimReadyTask } from './claim.ts'
export { type Caller, newestNodes, openTaskGraph, type TaskGraph } from './graph.ts'
export { addRelationship, removeRelationship } from './link.ts'
export { createMission, getMission, listMissions, updateMissionStatus } from './missions.ts'
export {
  type MissionInfo,
  missionStatuses,
  namedKinds,
  relationshipTypes,
  type TaskInfo,
  taskStatuses,
} from './node.ts'
export {
  artifactRelationships,
  ensureNode,
  findOwner,
  getArtifact,
  recordArtifact,
  recordFailure,
  recordValidation,
} from './nodes.ts'
export { type GraphAddress, graphIdentity, openGraphStore } from './open-store.ts'
export { openProjection, type Projection, projectionLag } from './projection.ts'
export { relationshipRules } from './relationships.ts'
export type { PlannedTask, RunSource } from './run-graph.ts'
export type { GraphStore } from './store.ts'
export {
  createTask,
  dependenciesCompleted,
  getTask,
  listTasks,
  updateTask,
  updateTaskStatus,
} from './task.ts'
