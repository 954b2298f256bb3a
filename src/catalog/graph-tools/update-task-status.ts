/** metier:update_task_status: a task goes on, ends, or goes back. */
import { updateTaskStatus as update } from '#tasks'
import { errors, example, string, taskParameter, taskStatus } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

export const updateTaskStatus = graphTool({
  name: 'update_task_status',
  title: 'Change the status of a task',
  effect: 'idempotent',
  objective: 'Set the status of a task: mark it as done, failed, in progress and so on.',
  description:
    'Any status may follow any other. An assigned agent is BUSY while one of its tasks is IN_PROGRESS, else IDLE.',
  parameters: [
    taskParameter,
    { name: 'newStatus', schema: taskStatus, text: 'The status that it gets; the same again is no error.' },
    {
      name: 'expectedStatus',
      schema: taskStatus,
      text: 'The status that it must have now: another one is refused, and nothing changes.',
      ifOmitted: 'it may have any.',
    },
  ],
  returns: [
    { name: 'taskID', schema: string, text: 'The task.' },
    { name: 'status', schema: taskStatus, text: 'Its status now.' },
    { name: 'updatedAt', schema: string, text: 'When it was changed, RFC 3339 in UTC.' },
  ],
  errors: {
    ...errors.invalid(
      'taskID is no UUID or of another kind, a status is off its list, or expectedStatus differs from actual',
    ),
    ...errors.missing('taskID or newStatus'),
    ...errors.notFound('node'),
  },
  preconditions: ['The task exists.'],
  postconditions: ['The task has the new status, and updatedAt is the time of the call.'],
  example: {
    intention: '"The analysis is finished."',
    call: { taskID: example.task, newStatus: 'DONE' },
    success: { taskID: example.task, status: 'DONE', updatedAt: example.at },
    error: {
      given: { expectedStatus: 'QUEUED' },
      code: 'INVALID_INPUT_PARAM',
      message: 'Cannot read "expectedStatus": was expected to be QUEUED and is IN_PROGRESS',
      context: {
        param: 'expectedStatus',
        details: 'was expected to be QUEUED and is IN_PROGRESS',
        value: 'QUEUED',
        actual: 'IN_PROGRESS',
      },
    },
  },
  run: update,
})
