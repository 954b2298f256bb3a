/**
 * What the tools and capabilities of past runs take and give: tools as they are pinned on the
 * record, capabilities by their parameters, and by recorded examples where no schema says it.
 */
import { type Field, shapeOf, type ToolShape, typeOf } from '#learn/fields'
import { leavesOf } from '#learn/lessons'
import { isObject, type Json, type JsonObject, splitToolId } from '#model'
import type { Knowledge } from './knowledge.ts'
import { type Pins, pinnedTool, type ToolDefinition } from './pinned-tool.ts'

/** Fields by the names of their last keys; `places` has the JSON Pointer of each output. */
export type KnownShape = ToolShape & { places: Map<string, string> }

export function knownShape(id: string, knowledge: Knowledge, pins: Pins): KnownShape {
  const { description, input, output } = id.startsWith('cap:') ? capabilityOf(id, knowledge) : pinnedTool(id, pins)
  const examples = knowledge.examplesOf(id)
  const declared = shapeOf({ id, name: splitToolId(id)?.name ?? id, description, input, output })
  const fields =
    output === undefined ? observedFields(examples.map((one) => one.output)) : declaredFields(output, '', 0)
  const outputs = [...new Map(fields.toReversed().map((field) => [field.name, field])).values()].toReversed()
  const inputs =
    declared.inputs.length > 0 || isObject(input) ? declared.inputs : givenFields(examples.map((one) => one.input))
  return { ...declared, inputs, outputs, places: new Map(outputs.map(({ name, place }) => [name, place])) }
}

function capabilityOf(id: string, knowledge: Knowledge): ToolDefinition {
  const [name, version] = id.slice('cap:'.length).split('@') as [string, string | undefined]
  const found = knowledge.capability(name, version === undefined ? undefined : Number(version))
  return { description: found?.intent ?? '', input: found?.parametersSchema }
}

type PlacedField = Field & { place: string }

const depthMax = 4

/** Every field at any depth: what a tool gives is often wrapped in something else. */
function declaredFields(schema: unknown, place: string, depth: number): PlacedField[] {
  if (!isObject(schema) || depth > depthMax) return []
  if (isObject(schema.items)) return declaredFields(schema.items, `${place}/*`, depth + 1)
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {})
  const own = properties.map(([name, property]): PlacedField => {
    const { type, description } = isObject(property) ? property : {}
    const said = typeof description === 'string' ? description : ''
    return { name, type: typeOf(type), description: said, required: false, place: `${place}/${name}` }
  })
  return [...own, ...properties.flatMap(([name, property]) => declaredFields(property, `${place}/${name}`, depth + 1))]
}

function observedFields(values: readonly Json[]): PlacedField[] {
  const leaves = values.flatMap((value) => leavesOf(value)).filter(({ path }) => /\/[^/]*$/.test(path))
  const named = leaves.map(({ path, value }): PlacedField => {
    const place = path.replace(/\/\d+(?=\/|$)/g, '/*')
    const name = place.replaceAll('/*', '').split('/').at(-1) ?? ''
    return { name, type: typeOf(typeName(value)), description: '', required: false, place }
  })
  const sorted = named.filter(({ name }) => name !== '').sort((left, right) => depthOf(left) - depthOf(right))
  return [...new Map(sorted.toReversed().map((field) => [field.place, field])).values()].toReversed()
}

const depthOf = ({ place }: PlacedField) => place.split('/').length

const typeName = (value: Json) => (Array.isArray(value) ? 'array' : value === null ? '' : typeof value)

/** What every recorded call had is taken for required. */
function givenFields(values: readonly Json[]): Field[] {
  const given = values.filter((value): value is JsonObject => isObject(value))
  const names = [...new Set(given.flatMap((one) => Object.keys(one)))]
  return names.map((name) => {
    const type = typeOf(typeName(given.find((one) => Object.hasOwn(one, name))![name]!))
    return { name, type, description: '', required: given.every((one) => Object.hasOwn(one, name)) }
  })
}
