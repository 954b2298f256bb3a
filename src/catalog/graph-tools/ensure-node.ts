/** metier:ensure_node: the one node of a kind and a name. */
import { ensureNode as ensure, namedKinds } from '#tasks'
import { errors, example, string } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'

export const ensureNode = graphTool({
  name: 'ensure_node',
  title: 'Find or create a node',
  effect: 'idempotent',
  objective: 'Get the id of the agent, user, capability, tool or tag of this name; it is created where there is none.',
  description: 'There is one node for each kind and name, with the same id in every database. An agent begins IDLE.',
  parameters: [
    { name: 'kind', schema: { type: 'string', enum: [...namedKinds] }, text: `One of ${namedKinds.join(', ')}.` },
    { name: 'name', schema: string, text: 'The name, 1 to 100 characters, as it is written.' },
  ],
  returns: [{ name: 'nodeID', schema: string, text: 'The UUID of the node.' }],
  errors: {
    ...errors.invalid('kind is off its list, or name is too long or contains NUL'),
    ...errors.missing('kind or name'),
  },
  preconditions: [],
  postconditions: ['The node exists, once.'],
  example: {
    intention: '"I am the agent ada; which id do I have?"',
    call: { kind: 'Agent', name: 'ada' },
    success: { nodeID: example.agent },
    error: {
      given: { kind: 'Robot' },
      code: 'INVALID_INPUT_PARAM',
      message: 'Cannot call "metier:ensure_node": "kind" must be "Agent" | "User" | "Capability" | "Tool" | "Tag"',
      context: {
        param: 'kind',
        details: 'must be "Agent" | "User" | "Capability" | "Tool" | "Tag"',
        value: 'Robot',
        allowed_values: ['Agent', 'User', 'Capability', 'Tool', 'Tag'],
        tool: 'metier:ensure_node',
      },
    },
  },
  run: ensure,
})
