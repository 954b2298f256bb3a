/** metier:update_task: what a task is called, how urgent it is, and what came of it. */
import { limits } from '#model'
import { updateTask as update } from '#tasks'
import { errors, example, integer, string, task, taskParameter } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

const text = (name: string, what: string) => ({
  name,
  schema: string,
  text: `${what}, at most ${limits.graphTextCharsMax} characters.`,
  ifOmitted: 'it stays as it is.',
})

export const updateTask = graphTool({
  name: 'update_task',
  title: 'Change a task',
  effect: 'idempotent',
  objective: 'Change the name, priority, expected deliverable, result or notes of a task.',
  description:
    'Only what is given changes. The status is changed with update_task_status, links with add_relationship.',
  parameters: [
    taskParameter,
    { name: 'name', schema: string, text: 'A short name, 1 to 100 characters.', ifOmitted: 'it stays as it is.' },
    {
      name: 'priority',
      schema: integer,
      text: `From ${-limits.graphPriorityMax} to ${limits.graphPriorityMax}; ready tasks of higher priority are claimed first, and none counts as 0.`,
      ifOmitted: 'it stays as it is.',
    },
    text('expectedDeliverable', 'What the task is to deliver'),
    text('resultData', 'What came of it, as JSON or text'),
    text('notes', 'Anything else'),
  ],
  returns: [{ name: 'task', schema: task, text: 'The task as it is now, as get_task_details tells of it.' }],
  errors: {
    ...errors.invalid(
      'taskID is no UUID or of another kind, a text is too long or contains NUL, or priority is off its range',
    ),
    ...errors.missing('taskID, or a name that is given,'),
    ...errors.notFound('node'),
  },
  preconditions: ['The task exists.'],
  postconditions: ['The task has what was given, and updatedAt is the time of the call.'],
  example: {
    intention: '"Keep what the analysis found."',
    call: { taskID: example.task, resultData: '{"cause":"the disk was full"}' },
    success: {
      task: {
        id: example.task,
        description: 'Find the cause of the errors of service X in its logs.',
        status: 'IN_PROGRESS',
        createdAt: example.at,
        updatedAt: example.at,
        resultData: '{"cause":"the disk was full"}',
        parentID: example.mission,
        missionID: example.mission,
      },
    },
    error: {
      given: { priority: 'high' },
      code: 'INVALID_INPUT_PARAM',
      message: 'Cannot call "metier:update_task": "priority" must be integer',
      context: { param: 'priority', details: 'must be integer', value: 'high', tool: 'metier:update_task' },
    },
  },
  run: update,
})
