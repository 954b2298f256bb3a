/** Every built-in tool, each in a file of its own that is named after it. */
import type { BuiltInTool } from '#catalog/built-in'
import {
  addRelationship,
  checkTaskDependenciesCompletion,
  claimReadyTask,
  createMission,
  createTaskNode,
  ensureNode,
  getTaskDetails,
  listMissions,
  listTasks,
  recordFailure,
  recordValidation,
  removeRelationship,
  updateMissionStatus,
  updateTask,
  updateTaskStatus,
} from '#catalog/graph-tools'
import { executeScriptInSandbox } from './execute-script-in-sandbox.ts'
import { getArtifactInfo } from './get-artifact-info.ts'
import { retrieveArtifact } from './retrieve-artifact.ts'
import { storeArtifact } from './store-artifact.ts'

export const builtInTools: readonly BuiltInTool[] = [
  createMission,
  listMissions,
  updateMissionStatus,
  createTaskNode,
  getTaskDetails,
  listTasks,
  updateTaskStatus,
  updateTask,
  addRelationship,
  removeRelationship,
  checkTaskDependenciesCompletion,
  claimReadyTask,
  ensureNode,
  recordValidation,
  recordFailure,
  storeArtifact,
  retrieveArtifact,
  getArtifactInfo,
  executeScriptInSandbox,
]
