/**
 * Reads what tools were given: ids, names, statuses and texts, each refused with the parameter's
 * name.
 */
import { isUuid, limits, uuidOf } from '#model'
import { invalid, missing } from './errors.ts'
import { type NamedKind, type RelationshipType, relationshipTypes } from './node.ts'

/** An id of a node in its one written form; `tag:NAME` and its like are the id of that node. */
export function nodeId(param: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw missing(param)
  const named = /^(tag|capability|tool):(.+)$/s.exec(value)
  if (named) return namedId(prefixes[named[1] as keyof typeof prefixes], nodeName(param, named[2]))
  if (isUuid(value)) return value.toLowerCase()
  const other = 'a node, or tag:NAME, capability:NAME or tool:NAME'
  throw invalid(param, `must be the UUID of ${kindOf.get(param) ?? other}`, { value })
}

/** Parameters that take one kind of node. */
const kindOf: ReadonlyMap<string, string> = new Map([
  ['taskID', 'a task'],
  ['missionID', 'a mission'],
  ['agentID', 'an agent, as ensure_node answers it'],
  ['artifactID', 'an artifact'],
  ['parentNodeID', 'a mission or a task'],
])

const prefixes = { tag: 'Tag', capability: 'Capability', tool: 'Tool' } as const satisfies Record<string, NamedKind>

/** The id of the one node of this kind and name, the same in every database. */
export function namedId(kind: NamedKind, name: string): string {
  return uuidOf(`${kind}\0${name}`)
}

/** A name: 1 to 100 code points, as they came. */
export function nodeName(param: string, value: unknown): string {
  return requiredText(param, value, limits.graphNameCharsMax)
}

export function nameList(param: string, value: unknown): string[] {
  if (!Array.isArray(value)) throw invalid(param, 'must be a list of names', { value })
  if (value.length > limits.graphPageMax) throw invalid(param, `must have at most ${limits.graphPageMax} names`)
  return value.map((name) => nodeName(param, name))
}

/** A text that must not be empty, bounded in code points. */
export function requiredText(param: string, value: unknown, charsMax: number): string {
  if (value === undefined || value === null || value === '') throw missing(param)
  return bounded(param, value, charsMax)
}

export function optionalText(param: string, value: unknown, charsMax: number): string | undefined {
  return value === undefined ? undefined : bounded(param, value, charsMax)
}

/** A text that may be empty, bounded in code points; NUL stands in no database. */
function bounded(param: string, value: unknown, charsMax: number): string {
  if (typeof value !== 'string') throw invalid(param, 'must be a string')
  const chars = [...value].length
  if (chars > charsMax) throw invalid(param, `must have at most ${charsMax} characters and has ${chars}`)
  if (value.includes('\0')) throw invalid(param, 'must not contain the character NUL')
  if (!value.isWellFormed()) throw invalid(param, 'must be well-formed Unicode: it contains half of a surrogate pair')
  return value
}

export function oneOf<T extends string>(param: string, value: unknown, allowed: readonly T[]): T {
  if (value === undefined || value === null || value === '') throw missing(param)
  if (allowed.includes(value as T)) return value as T
  throw invalid(param, `must be one of ${allowed.join(', ')}`, { value, allowed_values: allowed })
}

export function relationshipType(value: unknown): RelationshipType {
  return oneOf('relationshipType', value, relationshipTypes)
}

/** Where a page begins and how long it is. */
export function page({ limit, offset }: { limit?: unknown; offset?: unknown }): { limit: number; offset: number } {
  return {
    limit: integer('limit', limit ?? limits.graphPageDefault, 1, limits.graphPageMax),
    offset: integer('offset', offset ?? 0, 0, Number.MAX_SAFE_INTEGER),
  }
}

function integer(param: string, value: unknown, min: number, max: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return value as number
  throw invalid(param, `must be an integer from ${min} to ${max}`, { value })
}

export function priorityOf(value: unknown): number {
  return integer('priority', value, -limits.graphPriorityMax, limits.graphPriorityMax)
}

/** Compare and set: the status that the caller saw must still be the node's. */
export function checkExpected(expected: unknown, actual: string | undefined): void {
  if (expected === undefined || expected === actual) return
  throw invalid('expectedStatus', `was expected to be ${expected} and is ${actual}`, { value: expected, actual })
}
