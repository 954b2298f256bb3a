/** The parameters of the two tools that join nodes and part them again. */
import { relationshipRules } from '#tasks'
import { relationshipType, string } from './graph-schema.ts'

/** `DEPENDS_ON Task→Task, …`, from the table that decides. */
const table = Object.entries(relationshipRules)
  .map(([type, { from, to }]) => `${type} ${from.join('/')}→${to.join('/')}`)
  .join(', ')

const id = 'UUID, or tag:NAME, capability:NAME or tool:NAME. MUST exist'

export const relationshipParameters = [
  { name: 'fromNodeID', schema: string, text: `The node that it leads from: ${id}.` },
  { name: 'toNodeID', schema: string, text: `The node that it leads to: ${id}, and be another one.` },
  { name: 'relationshipType', schema: relationshipType, text: `One of, each with what it may join: ${table}.` },
]
