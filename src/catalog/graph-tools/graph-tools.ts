/**
 * The built-in tools of the task graph, each in a file of its own that is named after it, and what
 * the tools of stored files share with them. Refuse what the graph refuses, with its codes.
 */
export { addRelationship } from './add-relationship.ts'
export { checkTaskDependenciesCompletion } from './check-task-dependencies-completion.ts'
export { claimReadyTask } from './claim-ready-task.ts'
export { createMission } from './create-mission.ts'
export { createTaskNode } from './create-task-node.ts'
export { ensureNode } from './ensure-node.ts'
export { getTaskDetails } from './get-task-details.ts'
export { errors, example, integer, string, strings } from './graph-schema.ts'
export { graphTool, toolFrom } from './graph-tool.ts'
export { listMissions } from './list-missions.ts'
export { listTasks } from './list-tasks.ts'
export { recordFailure } from './record-failure.ts'
export { recordValidation } from './record-validation.ts'
export { removeRelationship } from './remove-relationship.ts'
export { updateMissionStatus } from './update-mission-status.ts'
export { updateTask } from './update-task.ts'
export { updateTaskStatus } from './update-task-status.ts'
