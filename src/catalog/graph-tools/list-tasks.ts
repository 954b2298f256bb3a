/** metier:list_tasks: tasks of a mission, by status, or ready to begin. */
import { listTasks as list } from '#tasks'
import { boolean, errors, example, nextPage, paging, string, task, taskStatus } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

export const listTasks = graphTool({
  name: 'list_tasks',
  title: 'List tasks',
  effect: 'read',
  objective: 'List the tasks of the task graph, all or those of a mission, of a status, or ready to begin.',
  description:
    'Oldest first; ready tasks by priority. To take one up, use claim_ready_task: a listed task may be gone by then.',
  parameters: [
    { name: 'missionID', schema: string, text: 'Only tasks of this mission, by UUID.', ifOmitted: 'of every mission.' },
    { name: 'status', schema: taskStatus, text: 'Only tasks with this status.', ifOmitted: 'with any.' },
    {
      name: 'ready',
      schema: boolean,
      text: 'true: only tasks that may begin (QUEUED, unassigned, every dependency DONE or VALIDATED).',
      ifOmitted: 'all of them.',
    },
    ...paging,
  ],
  returns: [
    { name: 'tasks', schema: { type: 'array', items: task }, text: 'As get_task_details tells of each.' },
    nextPage,
  ],
  errors: {
    ...errors.invalid('missionID is no UUID, status is off its list, or limit or offset off its range'),
    ...errors.missing('missionID, where it is given,'),
  },
  preconditions: [],
  postconditions: ['Nothing has changed.'],
  example: {
    intention: '"What can be worked on now?"',
    call: { missionID: example.mission, ready: true, limit: 1 },
    success: {
      tasks: [
        {
          id: example.task,
          description: 'Find the cause of the errors of service X in its logs.',
          status: 'QUEUED',
          createdAt: example.at,
          updatedAt: example.at,
          parentID: example.mission,
          missionID: example.mission,
        },
      ],
      next: 1,
    },
    error: {
      given: { limit: 0 },
      code: 'INVALID_INPUT_PARAM',
      message: 'Cannot call "metier:list_tasks": "limit" must be at least 1',
      context: { param: 'limit', details: 'must be at least 1', value: 0, tool: 'metier:list_tasks' },
    },
  },
  run: list,
})
