/** metier:add_relationship: one typed, directed relationship between two nodes. */
import { addRelationship as add } from '#tasks'
import { boolean, errors, example } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'
import { relationshipParameters } from './relationship-parameters.ts'

export const addRelationship = graphTool({
  name: 'add_relationship',
  title: 'Link two nodes',
  effect: 'idempotent',
  objective:
    'Link two nodes: make one task depend on another, or give it an assignee, a tag, a capability, an artifact.',
  description:
    'Creates the relationship where there is none. DEPENDS_ON and IS_CHILD_OF never close a cycle; a task has one parent and one assignee.',
  parameters: relationshipParameters,
  returns: [{ name: 'created', schema: boolean, text: 'false where it was there already.' }],
  errors: {
    ...errors.invalid(
      'an id is no UUID, relationshipType is off its list or may not join these kinds, it would close a cycle, or both ends are one node',
    ),
    ...errors.missing('a parameter'),
    ...errors.notFound('node'),
    NEO4J_CONSTRAINT_VIOLATION: 'the task has a parent or an assignee already, or belongs to another mission.',
  },
  preconditions: ['Both nodes exist; ensure_node makes agents, users, capabilities, tools and tags.'],
  postconditions: ['The relationship exists, once.'],
  example: {
    intention: '"The report can only be written after the analysis."',
    call: { fromNodeID: example.other, toNodeID: example.task, relationshipType: 'DEPENDS_ON' },
    success: { created: true },
    error: {
      given: { toNodeID: 'tag:urgent', relationshipType: 'ASSIGNED_TO' },
      code: 'INVALID_INPUT_PARAM',
      message: 'Cannot read "relationshipType": ASSIGNED_TO leads from Task to Agent, not from Task to Tag',
      context: {
        param: 'relationshipType',
        details: 'ASSIGNED_TO leads from Task to Agent, not from Task to Tag',
        value: 'ASSIGNED_TO',
      },
    },
  },
  run: add,
})
