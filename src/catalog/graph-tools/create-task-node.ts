/** metier:create_task_node: a task under a mission or another task. */
import { createTask } from '#tasks'
import { errors, example, string, taskStatus } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

export const createTaskNode = graphTool({
  name: 'create_task_node',
  title: 'Create a task',
  effect: 'idempotent',
  objective: 'Add a task to a mission, or below another task.',
  description:
    'The task belongs to the mission of its parent for good. Dependencies, an assignee, tags and required capabilities are added with add_relationship.',
  parameters: [
    {
      name: 'parentNodeID',
      schema: string,
      text: 'The UUID of the mission (HAS_ROOT_TASK) or task (IS_CHILD_OF) that it stands under. MUST exist.',
    },
    { name: 'taskName', schema: string, text: 'A short name, 1 to 100 characters.', ifOmitted: 'the task has none.' },
    { name: 'description', schema: string, text: 'What is to be done, 1 to 2000 characters.' },
    { name: 'initialStatus', schema: taskStatus, text: 'The status that it begins with.', ifOmitted: 'QUEUED.' },
  ],
  returns: [{ name: 'taskID', schema: string, text: 'The UUID of the new task.' }],
  errors: {
    ...errors.invalid(
      'parentNodeID is no UUID or neither mission nor task, a text is too long, or initialStatus is off its list',
    ),
    ...errors.missing('parentNodeID or description'),
    ...errors.notFound('node'),
    ...errors.taken,
  },
  preconditions: ['The parent exists.'],
  postconditions: [
    'The task exists, is linked to its parent, and names the run that created it in temporalWorkflowID.',
  ],
  example: {
    intention: '"Add a task for the analysis of the logs."',
    call: {
      parentNodeID: example.mission,
      taskName: 'Analyse logs',
      description: 'Find the cause of the errors of service X in its logs.',
    },
    success: { taskID: example.task },
    error: {
      given: { parentNodeID: example.absent },
      code: 'NEO4J_NODE_NOT_FOUND',
      message: `Cannot find the node "${example.absent}": there is none with this id`,
      context: { nodeID: example.absent },
    },
  },
  run: createTask,
})
