/** metier:get_task_details: everything that is known of one task. */
import { getTask } from '#tasks'
import { errors, example, taskOrNull, taskParameter } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

export const getTaskDetails = graphTool({
  name: 'get_task_details',
  title: 'Look at a task',
  effect: 'read',
  objective: 'Get everything that is known of one task: its properties and what it is linked to.',
  description:
    'Parent, children, dependencies, assignee, artifacts, capabilities, tags, validation and failure are given as ids or names.',
  parameters: [{ ...taskParameter, text: 'The UUID of the task.' }],
  returns: [{ name: 'task', schema: taskOrNull, text: 'The task, absent members left out; null where there is none.' }],
  errors: { ...errors.invalid('taskID is no UUID'), ...errors.missing('taskID') },
  preconditions: [],
  postconditions: ['Nothing has changed.'],
  example: {
    intention: '"What does this task wait for?"',
    call: { taskID: example.task },
    success: {
      task: {
        id: example.task,
        name: 'Analyse logs',
        description: 'Find the cause of the errors of service X in its logs.',
        status: 'QUEUED',
        createdAt: example.at,
        updatedAt: example.at,
        parentID: example.mission,
        dependencyTaskIDs: [example.other],
        missionID: example.mission,
      },
    },
    error: {
      given: { taskID: 'task 7' },
      code: 'INVALID_INPUT_PARAM',
      message: 'Cannot read "taskID": must be the UUID of a task',
      context: { param: 'taskID', details: 'must be the UUID of a task', value: 'task 7' },
    },
  },
  run: getTask,
})
