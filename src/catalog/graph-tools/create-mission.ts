/** metier:create_mission: the root under which tasks stand. */
import { createMission as create } from '#tasks'
import { errors, example, string } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

export const createMission = graphTool({
  name: 'create_mission',
  title: 'Create a mission',
  effect: 'idempotent',
  objective: 'Start a new mission: a goal, under which everything stands that is to be done for it.',
  description: 'A mission begins ACTIVE and empty; create_task_node fills it. Several missions may have one name.',
  parameters: [
    { name: 'name', schema: string, text: 'A short name, 1 to 100 characters.' },
    {
      name: 'description',
      schema: string,
      text: 'What is to be reached, at most 2000 characters.',
      ifOmitted: 'the mission has none.',
    },
  ],
  returns: [{ name: 'missionID', schema: string, text: 'The UUID of the new mission.' }],
  errors: { ...errors.invalid('a text is too long or contains NUL'), ...errors.missing('name'), ...errors.taken },
  preconditions: [],
  postconditions: ['The mission exists and is ACTIVE.'],
  example: {
    intention: '"Start tracking the work on the release."',
    call: { name: 'Release 2.0', description: 'Everything that must be done before 2.0 is published.' },
    success: { missionID: example.mission },
    error: {
      given: { name: '' },
      code: 'MISSING_REQUIRED_PARAM',
      message: 'Cannot go on without "name": it is required and must not be empty',
      context: { param: 'name' },
    },
  },
  run: create,
})
