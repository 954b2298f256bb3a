/**
 * The values in a result or in arguments, each with its path. JSON inside a text is read as JSON,
 * so that the text content of an MCP answer is as good as a structured one.
 */
import { escapePointerKey, type Json, limits } from '#model'

export type Leaf = { path: string; key: string; value: Json; identity: string }

/** Single values, and lists and objects as wholes; inner values before what holds them. */
export function leavesOf(root: Json | undefined): Leaf[] {
  const found: Leaf[] = []
  if (root !== undefined) collect(parsed(root), '', '', found)
  return found
}

function collect(value: Json, path: string, key: string, found: Leaf[]): void {
  if (found.length >= limits.flowLeavesMax) return
  for (const [name, member] of membersOf(value)) {
    // The items of a list go by the name of the list.
    collect(parsed(member), `${path}/${escapePointerKey(name)}`, Array.isArray(value) ? key : name, found)
  }
  if (!isEmpty(value)) found.push({ path, key, value, identity: identityOf(value) })
}

export function membersOf(value: Json): [string, Json][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

/** What a text holds where it is JSON of a list or an object, else the value itself. */
export function parsed(value: Json): Json {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value) as Json
  } catch {
    return value
  }
}

const isEmpty = (value: Json) => typeof value === 'object' && value !== null && Object.keys(value).length === 0

/** Equal values have equal texts; a number and its digits as text do not. */
export function identityOf(value: Json): string {
  return typeof value === 'string' ? `"${value}` : JSON.stringify(value)
}

/** `true`, 0, 1, "" and short numbers are the same by chance in most runs. */
export function isLowInformation(value: Json): boolean {
  if (value === null || typeof value === 'boolean') return true
  if (typeof value === 'string') return value.trim().length < 2
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 10
}
