/** metier:update_mission_status: a mission is done, given up, or taken up again. */
import { updateMissionStatus as update } from '#tasks'
import { errors, example, missionStatus, string } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

export const updateMissionStatus = graphTool({
  name: 'update_mission_status',
  title: 'Change the status of a mission',
  effect: 'idempotent',
  objective: 'Close a mission or open it again: set its status to DONE, FAILED, CANCELED or ACTIVE.',
  description: 'Any status may follow any other. The tasks of the mission stay as they are.',
  parameters: [
    { name: 'missionID', schema: string, text: 'The UUID of the mission, which MUST exist.' },
    { name: 'newStatus', schema: missionStatus, text: 'The status that it gets.' },
    {
      name: 'expectedStatus',
      schema: missionStatus,
      text: 'The status that it must have now: another one is refused, and nothing changes.',
      ifOmitted: 'it may have any.',
    },
  ],
  returns: [
    { name: 'missionID', schema: string, text: 'The mission.' },
    { name: 'status', schema: missionStatus, text: 'Its status now.' },
    { name: 'updatedAt', schema: string, text: 'When it was changed, RFC 3339 in UTC.' },
  ],
  errors: {
    ...errors.invalid(
      'missionID is no UUID or of another kind, a status is off its list, or expectedStatus differs from actual',
    ),
    ...errors.missing('missionID or newStatus'),
    ...errors.notFound('node'),
  },
  preconditions: ['The mission exists.'],
  postconditions: ['The mission has the new status, and updatedAt is the time of the call.'],
  example: {
    intention: '"The release is out: close its mission."',
    call: { missionID: example.mission, newStatus: 'DONE', expectedStatus: 'ACTIVE' },
    success: { missionID: example.mission, status: 'DONE', updatedAt: example.at },
    error: {
      code: 'INVALID_INPUT_PARAM',
      message: 'Cannot read "expectedStatus": was expected to be ACTIVE and is CANCELED',
      context: {
        param: 'expectedStatus',
        details: 'was expected to be ACTIVE and is CANCELED',
        value: 'ACTIVE',
        actual: 'CANCELED',
      },
    },
  },
  run: update,
})
