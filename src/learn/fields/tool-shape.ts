/** What a tool takes and gives, field by field, read from its schemas or from observed results. */
import { isObject } from '#model'

type FieldType = 'string' | 'number' | 'boolean' | 'array' | 'object' | 'any'
export type Field = { name: string; type: FieldType; description: string; required: boolean }
export type ToolShape = { id: string; name: string; description: string; inputs: Field[]; outputs: Field[] }

type Described = {
  id: string
  name: string
  description?: string
  input?: unknown
  output?: unknown
  observed?: unknown
}

/** The shape of a tool; what was observed stands in for an output schema that is missing. */
export function shapeOf({ id, name, description = '', input, output, observed }: Described): ToolShape {
  return { id, name, description, inputs: fieldsOf(input), outputs: fieldsOf(output ?? observed) }
}

/** The properties of an object schema; of a list those of its items. */
function fieldsOf(schema: unknown): Field[] {
  if (!isObject(schema)) return []
  if (isObject(schema.items)) return fieldsOf(schema.items)
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, property]) => {
    const { type, description } = isObject(property) ? property : {}
    return { name, type: typeOf(type), description: String(description ?? ''), required: required.includes(name) }
  })
}

/** The words that schemas and their relatives use for the same types. */
const typeWords: [FieldType, RegExp][] = [
  ['boolean', /bool/],
  ['number', /int|float|num|double/],
  ['array', /list|array|tuple|set/],
  ['object', /dict|obj|map/],
  ['string', /str|text|date|time|uri/],
]

export function typeOf(type: unknown): FieldType {
  const word = String(Array.isArray(type) ? (type.find((one) => one !== 'null') ?? '') : (type ?? '')).toLowerCase()
  return typeWords.find(([, words]) => words.test(word))?.[0] ?? 'any'
}
