/**
 * What tools say of a capability's parameters: where one is handed on as it is, its type is that of
 * the argument. Values alone show what was given so far, not what may be: five orders were asked
 * for, and the tool takes 2.5 of them.
 */
import { programCached } from '#learn/lessons'
import { type CapabilitySource, escapePointerKey, isObject, type JsonObject, pointerKeys } from '#model'

/** The input schema of a tool; undefined where it is not known. */
export type InputOf = (tool: string) => unknown

/** The schema of the values, with types of the tools and nothing else of theirs: no text. */
export function withToolTypes(schema: JsonObject, source: CapabilitySource, inputOf: InputOf): JsonObject {
  const places = placesOf(source)
  const properties = Object.entries(schema.properties as JsonObject).map(([name, property]) => {
    const declared = (places.get(name) ?? []).map(({ tool, path }) => schemaAt(inputOf(tool), path))
    return [name, typed(property as JsonObject, declared)]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

/** The argument of a tool that a parameter is handed on to. */
type Place = { name: string; tool: string; path: string }

/** By parameter. Of a call that may be of several tools nothing is said. */
function placesOf(source: CapabilitySource): Map<string, Place[]> {
  const places = source.type === 'code' ? placesInCode(source.code) : source.tasks.flatMap(placesInTask)
  return Map.groupBy(places, ({ name }) => name)
}

function placesInCode(code: string): Place[] {
  const program = programCached(code)
  if (!('sites' in program)) return []
  return program.sites.flatMap(({ tools, inputs }) => {
    const [tool, ...others] = tools
    if (tool === undefined || others.length > 0) return []
    return inputs.flatMap(({ path, source }) =>
      source.kind === 'args' && source.exact ? named(tool, path, source.path) : [],
    )
  })
}

type Task = Extract<CapabilitySource, { type: 'dag' }>['tasks'][number]

function placesInTask({ tool, arguments: args }: Task): Place[] {
  const walk = (value: unknown, path: string): Place[] => {
    if (typeof value !== 'object' || value === null) return []
    if ('$args' in value) return named(tool!, path, String(value.$args))
    return Object.entries(value).flatMap(([key, member]) => walk(member, `${path}/${escapePointerKey(key)}`))
  }
  return tool === undefined ? [] : walk(args, '')
}

/** A parameter as a whole; of its members the values speak alone. */
function named(tool: string, path: string, from: string): Place[] {
  const [name, ...deeper] = pointerKeys(from) ?? []
  return name === undefined || deeper.length > 0 ? [] : [{ tool, path, name }]
}

function schemaAt(schema: unknown, path: string): unknown {
  let at = schema
  for (const key of pointerKeys(path) ?? []) {
    if (!isObject(at)) return undefined
    at = isObject(at.properties) ? at.properties[key] : at.items
  }
  return at
}

/**
 * Of the kinds that were seen, as all of its places take them; what was seen alone where one place
 * says nothing, or would not take it.
 */
function typed(property: JsonObject, declared: readonly unknown[]): JsonObject {
  const [seen, places] = [typesOf(property), declared.map(typesOf)]
  const isTaken = places.length > 0 && seen.every((type) => places.every((types) => takes(types, type)))
  if (!isTaken) return property
  const isWider = seen.includes('integer') && places.every((types) => types.includes('number'))
  const type = isWider ? [...new Set(seen.map((one) => (one === 'integer' ? 'number' : one)))] : seen
  const items = seen.includes('array') ? itemOf(declared) : undefined
  return { ...property, type: type.length === 1 ? type[0]! : type, ...(items !== undefined && { items }) }
}

const takes = (types: readonly string[], type: string) =>
  types.includes(type) || (type === 'integer' && types.includes('number'))

/** The type of a list's items, where all places agree on one. */
function itemOf(declared: readonly unknown[]): JsonObject | undefined {
  const found = declared.map((one) => (isObject(one) ? typesOf(one.items).join() : ''))
  const [first = ''] = found
  return /^\w+$/.test(first) && found.every((one) => one === first) ? { type: first } : undefined
}

function typesOf(schema: unknown): string[] {
  const { type } = isObject(schema) ? schema : {}
  return (Array.isArray(type) ? type : [type]).filter((one): one is string => jsonTypes.has(one))
}

/** Whatever else a server writes there is no type. */
const jsonTypes = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])
