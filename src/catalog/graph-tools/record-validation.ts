/** metier:record_validation: what a check of a task's result found. */
import { limits } from '#model'
import { recordValidation as record } from '#tasks'
import { boolean, errors, example, string, taskParameter } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

export const recordValidation = graphTool({
  name: 'record_validation',
  title: 'Record a validation',
  effect: 'idempotent',
  objective: 'Record that the result of a task was checked, and whether it passed.',
  description:
    'The task is linked to the validation (VALIDATED_BY), the newest of which is shown. Its status stays: set it with update_task_status.',
  parameters: [
    taskParameter,
    { name: 'passed', schema: boolean, text: 'Whether the result is good.' },
    {
      name: 'report',
      schema: string,
      text: `What was found, at most ${limits.graphTextCharsMax} characters.`,
      ifOmitted: 'there is no report.',
    },
  ],
  returns: [{ name: 'validationID', schema: string, text: 'The UUID of the validation.' }],
  errors: {
    ...errors.invalid('taskID is no UUID or of another kind, passed is no boolean, or report is too long'),
    ...errors.missing('taskID or passed'),
    ...errors.notFound('node'),
    ...errors.taken,
  },
  preconditions: ['The task exists.'],
  postconditions: ['The validation exists and is shown as validationID of the task.'],
  example: {
    intention: '"I have read the analysis, and it is right."',
    call: { taskID: example.task, passed: true, report: 'The cause was reproduced.' },
    success: { validationID: example.other },
    error: {
      given: { taskID: example.absent },
      code: 'NEO4J_NODE_NOT_FOUND',
      message: `Cannot find the node "${example.absent}": there is none with this id`,
      context: { nodeID: example.absent },
    },
  },
  run: record,
})
