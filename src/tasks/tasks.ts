/**
 * The task graph: missions, tasks and what joins them, in SQLite or Neo4j. In go the arguments of
 * tools as they came, and the call that asks; out come plain answers. Whatever breaks a rule of the
 * graph is refused with the code and context that AutoAgent's specification fixes, and leaves the
 * graph as it was.
 */

export { type GraphAddress, type GraphStore, graphIdentity, openGraphStore } from '#tasks/database'
export { openProjection, type PlannedTask, type Projection, projectionLag, type RunSource } from '#tasks/projection'
export {
  type MissionInfo,
  missionStatuses,
  namedKinds,
  relationshipRules,
  relationshipTypes,
  type TaskInfo,
  taskStatuses,
} from '#tasks/terms'
export { claimReadyTask } from './claim.ts'
export { type Caller, newestNodes, openTaskGraph, type TaskGraph } from './graph.ts'
export { addRelationship, removeRelationship } from './link.ts'
export { createMission, getMission, listMissions, updateMissionStatus } from './missions.ts'
export {
  artifactRelationships,
  ensureNode,
  findOwner,
  getArtifact,
  recordArtifact,
  recordFailure,
  recordValidation,
} from './nodes.ts'
export {
  createTask,
  dependenciesCompleted,
  getTask,
  listTasks,
  updateTask,
  updateTaskStatus,
} from './task.ts'
