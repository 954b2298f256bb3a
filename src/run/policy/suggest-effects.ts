/**
 * Proposes an effect class for a tool that says nothing of itself, from its name, its description
 * and its schema.
 */
import { type Effect, isObject, type Tool } from '#model'
import { dangerousWordIn, wordsOf } from './danger.ts'

export type Proposal = { effect: Effect; because: string }

type Described = Pick<Tool, 'name' | 'description' | 'input'>

const reading = new Set(
  `analyze browse calculate check compare compute convert count current describe diff estimate exists explain export fetch find format get grep head
  help history info inspect is list log look lookup now parse peek ping preview print query read resolve search see select show stat
  stats status summarize tail tree validate verify version view watch which`.split(/\s+/),
)
const repeatable = new Set(
  'close disable enable ensure open put replace save select set toggle update upsert write'.split(' '),
)
const changing =
  /\b(?:add|append|create|delete|destroy|drop|execute|insert|modif(?:y|ies)|move|overwrite|post|publish|remove|rename|run|send|submit|trigger|update|write)s?\b/i
const additive = /\b(?:append|add|another|new|each time|increment|toggle)s?\b/i
const keyNames =
  /^(?:idempotency[-_]?key|client[-_]?(?:request[-_]?)?token|request[-_]?id|dedup(?:e|lication)[-_]?(?:key|id))$/i

/**
 * The weaker class wins wherever two signs disagree: a wrong `read` would let through what should
 * have asked.
 */
export function suggestEffect({ name, description, input }: Described): Proposal {
  const danger = dangerousWordIn(name)
  const key = Object.keys(propertiesOf(input)).find((property) => keyNames.test(property))
  if (key !== undefined) return { effect: `keyed:${key}`, because: `its parameter "${key}" names a request` }
  if (danger !== null) return { effect: 'unsafe', because: danger }
  const words = wordsOf(name)
  const [first = ''] = words
  const changes = changing.exec(`${firstSentence(description)}`)?.[0]
  if (reading.has(first) || (reading.has(words.at(-1) ?? '') && words.length <= 2)) {
    if (changes === undefined)
      return { effect: 'read', because: `its name says "${reading.has(first) ? first : words.at(-1)}"` }
    return { effect: 'unsafe', because: `its name reads, its description says "${changes}"` }
  }
  const adds = additive.exec(description)?.[0]
  if (repeatable.has(first) && adds === undefined)
    return { effect: 'idempotent', because: `its name says "${first}": doing it again changes nothing more` }
  return {
    effect: 'unsafe',
    because: adds === undefined ? 'nothing says that it may be repeated' : `it says "${adds}"`,
  }
}

const firstSentence = (text: string) => text.split(/[.\n](?:\s|$)/)[0] ?? ''

function propertiesOf(schema: unknown): Record<string, unknown> {
  return isObject(schema) && isObject(schema.properties) ? (schema.properties as Record<string, unknown>) : {}
}
