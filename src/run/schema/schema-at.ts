/** What two schemas say about the same value: only a certain contradiction counts. */
import { refersTo } from '#catalog'
import { isObject, limits, unescapePointerKey } from '#model'

/**
 * A place in a schema; `root` is where its references point into. Undefined is a place that can
 * never be there.
 */
export type Spot = { schema: unknown; root: unknown }

const never = Symbol('never')

/** Follows a JSON Pointer through a schema as far as it is plain; beyond that anything may come. */
export function spotAt({ schema, root }: Spot, pointer: string): Spot {
  let here = resolved(schema, root)
  for (const part of pointer.split('/').slice(1)) {
    here = resolved(memberOf(here, unescapePointerKey(part)), root)
  }
  return { schema: here, root }
}

export function itemsOf({ schema, root }: Spot): Spot {
  return { schema: isObject(schema) && isObject(schema.items) ? resolved(schema.items, root) : {}, root }
}

/** True where the source declares that nothing ever stands there. */
export function lacks({ schema }: Spot): boolean {
  return schema === never
}

/** Why a value of the one can never be a value of the other; null where it may. */
export function conflictOf(given: Spot, wanted: Spot): string | null {
  const [from, to] = [typesOf(given.schema), typesOf(wanted.schema)]
  if (from === null || to === null || from.some((type) => to.includes(type))) return null
  return `it is ${from.join(' or ')}, but must be ${to.join(' or ')}`
}

function resolved(schema: unknown, root: unknown): unknown {
  let here = schema
  for (let step = 0; isObject(here) && typeof here.$ref === 'string'; step++) {
    if (step >= limits.toolSchemaDepthMax) return {}
    here = refersTo(root, here.$ref)
  }
  return here
}

/** What can be chosen between is not looked into. */
const choices = ['anyOf', 'oneOf', 'allOf', 'not', 'if', 'patternProperties', '$dynamicRef', '$recursiveRef']

function memberOf(schema: unknown, key: string): unknown {
  if (!isObject(schema) || choices.some((name) => schema[name] !== undefined)) return schema === never ? never : {}
  const types = typesOf(schema)
  const isList = types?.includes('array') === true && types.length === 1
  if (isList) return isObject(schema.items) && /^\d+$/.test(key) ? schema.items : /^\d+$/.test(key) ? {} : never
  if (types !== null && !types.includes('object') && !types.includes('array')) return never
  const properties = isObject(schema.properties) ? schema.properties : {}
  if (Object.hasOwn(properties, key)) return properties[key]
  const isClosed = schema.additionalProperties === false && types?.length === 1 && types[0] === 'object'
  return isClosed ? never : isObject(schema.additionalProperties) ? schema.additionalProperties : {}
}

/** An integer is a number; null where the schema does not say. */
function typesOf(schema: unknown): string[] | null {
  if (!isObject(schema) || choices.some((name) => schema[name] !== undefined)) return null
  const { type, enum: values } = schema
  if (Array.isArray(values)) return [...new Set(values.map(typeOf))]
  if ('const' in schema) return [typeOf(schema.const)]
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type.map(String) : null
  return types === null || types.length === 0 ? null : types.map((name) => (name === 'integer' ? 'number' : name))
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
