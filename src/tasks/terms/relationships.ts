/**
 * The fifteen relationships as data: which kinds each may join, and what else must hold of it. Both
 * drivers and the documentation of the tools read this table.
 */
import type { NodeKind, RelationshipType } from './node.ts'

type Rule = {
  from: readonly NodeKind[]
  to: readonly NodeKind[]
  /** No node may be reached from itself. */
  acyclic?: true
  /** The start of the relationship has at most one of this type. */
  single?: true
}

const artifactOfTask: Rule = { from: ['Task'], to: ['Artifact'] }

export const relationshipRules: Readonly<Record<RelationshipType, Rule>> = {
  DEPENDS_ON: { from: ['Task'], to: ['Task'], acyclic: true },
  IS_CHILD_OF: { from: ['Task'], to: ['Task'], acyclic: true, single: true },
  HAS_ROOT_TASK: { from: ['Mission'], to: ['Task'] },
  PART_OF: { from: ['Task'], to: ['Mission'], single: true },
  ASSIGNED_TO: { from: ['Task'], to: ['Agent'], single: true },
  REQUIRES_CAPABILITY: { from: ['Task'], to: ['Capability'] },
  HAS_TAG: { from: ['Task', 'Mission', 'Artifact'], to: ['Tag'] },
  PRODUCES_ARTIFACT: artifactOfTask,
  CONSUMES_ARTIFACT: artifactOfTask,
  USED_PROMPT: artifactOfTask,
  HAS_EXECUTION_LOG: artifactOfTask,
  HAS_ACCESS_TO: { from: ['Agent'], to: ['Tool'] },
  IMPLEMENTS: { from: ['Tool', 'Agent'], to: ['Capability'] },
  VALIDATED_BY: { from: ['Task'], to: ['Validation'] },
  CREATED_BY: { from: ['Mission', 'Task', 'Artifact'], to: ['Agent', 'User'] },
}
