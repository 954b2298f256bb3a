/** metier:list_missions: missions with the state of their tasks. */
import { listMissions as list } from '#tasks'
import { boolean, errors, example, mission, missionStatus, nextPage, paging } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

export const listMissions = graphTool({
  name: 'list_missions',
  title: 'List missions',
  effect: 'read',
  objective: 'List missions with how many of their tasks have each status.',
  description: 'Oldest first. Use it to see what is under way before you create or claim something.',
  parameters: [
    { name: 'status', schema: missionStatus, text: 'Only missions with this status.', ifOmitted: 'all of them.' },
    {
      name: 'runs',
      schema: boolean,
      text: 'true: missions that show runs, each with its run; only their runs change them.',
      ifOmitted: 'missions that were created.',
    },
    ...paging,
  ],
  returns: [
    {
      name: 'missions',
      schema: { type: 'array', items: mission },
      text: 'id, name, description, status, times, and tasks: a count for each status that occurs.',
    },
    nextPage,
  ],
  errors: errors.invalid('status is off its list (then with allowed_values), or limit or offset off its range'),
  preconditions: [],
  postconditions: ['Nothing has changed.'],
  example: {
    intention: '"Which missions are still open?"',
    call: { status: 'ACTIVE' },
    success: {
      missions: [
        {
          id: example.mission,
          name: 'Release 2.0',
          status: 'ACTIVE',
          createdAt: example.at,
          updatedAt: example.at,
          tasks: { DONE: 2, QUEUED: 5 },
        },
      ],
      next: null,
    },
    error: {
      given: { status: 'OPEN' },
      code: 'INVALID_INPUT_PARAM',
      message: 'Cannot call "metier:list_missions": "status" must be "ACTIVE" | "DONE" | "FAILED" | "CANCELED"',
      context: {
        param: 'status',
        details: 'must be "ACTIVE" | "DONE" | "FAILED" | "CANCELED"',
        value: 'OPEN',
        allowed_values: ['ACTIVE', 'DONE', 'FAILED', 'CANCELED'],
        tool: 'metier:list_missions',
      },
    },
  },
  run: list,
})
