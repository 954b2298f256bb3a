/** metier:remove_relationship: takes one relationship away. */
import { removeRelationship as remove } from '#tasks'
import { boolean, errors, example } from './graph-schema.ts'
import { graphTool } from './graph-tool.ts'
import { relationshipParameters } from './relationship-parameters.ts'

export const removeRelationship = graphTool({
  name: 'remove_relationship',
  title: 'Unlink two nodes',
  effect: 'idempotent',
  objective: 'Remove one relationship between two nodes of the task graph.',
  description: 'The nodes stay. Use it to take a dependency, an assignee or a tag away again.',
  parameters: relationshipParameters,
  returns: [{ name: 'removed', schema: boolean, text: 'true.' }],
  errors: {
    ...errors.invalid('an id is no UUID, relationshipType is off its list, or both ends are one node'),
    ...errors.missing('a parameter'),
    ...errors.notFound('node'),
    NEO4J_RELATIONSHIP_NOT_FOUND: 'there is no such relationship between them.',
  },
  preconditions: ['Both nodes and the relationship exist.'],
  postconditions: ['The relationship is gone.'],
  example: {
    intention: '"The report no longer has to wait for the analysis."',
    call: { fromNodeID: example.other, toNodeID: example.task, relationshipType: 'DEPENDS_ON' },
    success: { removed: true },
    error: {
      code: 'NEO4J_RELATIONSHIP_NOT_FOUND',
      message: `Cannot remove DEPENDS_ON: there is none from "${example.other}" to "${example.task}"`,
      context: { fromNodeID: example.other, toNodeID: example.task, relationshipType: 'DEPENDS_ON' },
    },
  },
  run: remove,
})
