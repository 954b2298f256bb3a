/** metier:check_task_dependencies_completion: whether a task has to wait. */
import { dependenciesCompleted } from '#tasks'
import { boolean, errors, example, taskParameter } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

export const checkTaskDependenciesCompletion = graphTool({
  name: 'check_task_dependencies_completion',
  title: 'Check the dependencies of a task',
  effect: 'read',
  objective: 'Check whether every dependency of a task is completed: DONE or VALIDATED.',
  description: 'True also where it depends on nothing. Ask before you begin a task that you did not claim.',
  parameters: [taskParameter],
  returns: [{ name: 'allCompleted', schema: boolean, text: 'Whether the task no longer waits for another.' }],
  errors: { ...errors.invalid('taskID is no UUID'), ...errors.missing('taskID'), ...errors.notFound('task') },
  preconditions: ['The task exists.'],
  postconditions: ['Nothing has changed.'],
  example: {
    intention: '"May the report be written now?"',
    call: { taskID: example.other },
    success: { allCompleted: false },
    error: {
      given: { taskID: example.absent },
      code: 'NEO4J_NODE_NOT_FOUND',
      message: `Cannot find the node "${example.absent}": there is none with this id`,
      context: { nodeID: example.absent },
    },
  },
  run: dependenciesCompleted,
})
