/** metier:claim_ready_task: one ready task becomes one agent's. */
import { claimReadyTask as claim } from '#tasks'
import { errors, example, string, strings, taskOrNull } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

export const claimReadyTask = graphTool({
  name: 'claim_ready_task',
  title: 'Claim a task',
  effect: 'idempotent',
  objective:
    'Take the next task to work on: one that is ready becomes IN_PROGRESS and assigned to an agent, in one step.',
  description:
    'Ready is a QUEUED, unassigned task whose dependencies are all DONE or VALIDATED and that requires no capability but the given ones. Highest priority first, then oldest. No task is ever given to two agents.',
  parameters: [
    {
      name: 'agentID',
      schema: string,
      text: 'The UUID of the agent that takes it; ensure_node makes one. MUST exist.',
    },
    { name: 'missionID', schema: string, text: 'Only tasks of this mission, by UUID.', ifOmitted: 'of every mission.' },
    {
      name: 'capabilities',
      schema: strings,
      text: 'What the agent can do, by the names that tasks require.',
      ifOmitted: 'only tasks that require none.',
    },
  ],
  returns: [{ name: 'task', schema: taskOrNull, text: 'The task, now IN_PROGRESS; null where none is ready.' }],
  errors: {
    ...errors.invalid('an id is no UUID or of another kind, or a capability is no name'),
    ...errors.missing('agentID'),
    ...errors.notFound('node'),
  },
  preconditions: ['The agent exists.'],
  postconditions: ['The task is IN_PROGRESS and ASSIGNED_TO the agent, which is BUSY; or nothing has changed.'],
  example: {
    intention: '"Give me something to do."',
    call: { agentID: example.agent, capabilities: ['python'] },
    success: { task: null },
    error: {
      code: 'NEO4J_NODE_NOT_FOUND',
      message: `Cannot find the node "${example.agent}": there is none with this id`,
      context: { nodeID: example.agent },
    },
  },
  run: claim,
})
