/** metier:record_failure: why a task could not be done. */
import { limits } from '#model'
import { recordFailure as record } from '#tasks'
import { errors, example, string, taskParameter } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

export const recordFailure = graphTool({
  name: 'record_failure',
  title: 'Record a failure',
  effect: 'idempotent',
  objective: 'Record why a task failed, with a code and a message.',
  description:
    'The newest failure is shown as failureID of the task. Its status stays: set it with update_task_status.',
  parameters: [
    taskParameter,
    { name: 'code', schema: string, text: 'A short code, such as SANDBOX_TIMEOUT; 1 to 100 characters.' },
    { name: 'message', schema: string, text: `What happened, 1 to ${limits.graphTextCharsMax} characters.` },
  ],
  returns: [{ name: 'failureID', schema: string, text: 'The UUID of the failure.' }],
  errors: {
    ...errors.invalid('taskID is no UUID or of another kind, or a text is too long or contains NUL'),
    ...errors.missing('a parameter'),
    ...errors.notFound('node'),
    ...errors.taken,
  },
  preconditions: ['The task exists.'],
  postconditions: ['The failure exists and is shown as failureID of the task.'],
  example: {
    intention: '"The analysis could not be done: the logs are gone."',
    call: { taskID: example.task, code: 'S3_ARTIFACT_NOT_FOUND', message: 'The logs of May are not stored.' },
    success: { failureID: example.other },
    error: {
      given: { message: '' },
      code: 'MISSING_REQUIRED_PARAM',
      message: 'Cannot go on without "message": it is required and must not be empty',
      context: { param: 'message' },
    },
  },
  run: record,
})
