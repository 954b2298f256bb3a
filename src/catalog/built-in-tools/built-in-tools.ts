/** Every built-in tool, each in a file of its own that is named after it. */
import type { BuiltInTool } from '#catalog/built-in'
import { addRelationship } from './add-relationship.ts'
import { checkTaskDependenciesCompletion } from './check-task-dependencies-completion.ts'
import { claimReadyTask } from './claim-ready-task.ts'
import { createMission } from './create-mission.ts'
import { createTaskNode } from './create-task-node.ts'
import { ensureNode } from './ensure-node.ts'
import { executeScriptInSandbox } from './execute-script-in-sandbox.ts'
import { getArtifactInfo } from './get-artifact-info.ts'
import { getTaskDetails } from './get-task-details.ts'
import { listMissions } from './list-missions.ts'
import { listTasks } from './list-tasks.ts'
import { recordFailure } from './record-failure.ts'
import { recordValidation } from './record-validation.ts'
import { removeRelationship } from './remove-relationship.ts'
import { retrieveArtifact } from './retrieve-artifact.ts'
import { storeArtifact } from './store-artifact.ts'
import { updateMissionStatus } from './update-mission-status.ts'
import { updateTask } from './update-task.ts'
import { updateTaskStatus } from './update-task-status.ts'

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
