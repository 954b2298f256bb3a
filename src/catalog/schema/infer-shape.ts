/**
 * The shape of values as a JSON schema: inferred from what a tool answered, merged over its
 * answers, and bounded.
 */
import { isObject, type Json, type JsonObject, limits } from '#model'

/**
 * `type` lists every kind that was seen; the other members tell of the objects and the lists among
 * them.
 */
export type Shape = {
  type: string[]
  properties?: Record<string, Shape>
  required?: string[]
  /** In place of `properties`, for objects with too many different keys to be a record. */
  additionalProperties?: Shape
  items?: Shape
}

export function shapeOf(value: Json): Shape {
  return bounded(infer(value, limits.shapeDepthMax))
}

/** What fits either. */
export function mergeShapes(left: Shape, right: Shape): Shape {
  return bounded(merge(left, right))
}

/**
 * Whether a value tells nothing new, as far as that is seen without making its shape: most values
 * are like those before.
 */
export function covers(shape: Shape, value: Json, depth: number = limits.shapeDepthMax): boolean {
  const { type, properties, required = [], additionalProperties, items } = shape
  if (Array.isArray(value)) {
    const isItem = (item: Json) => items !== undefined && covers(items, item, depth - 1)
    return type.includes('array') && (depth === 0 || value.slice(0, limits.shapeItemsMax).every(isItem))
  }
  if (!isObject(value)) return type.includes(value === null ? 'null' : typeof value)
  if (!type.includes('object') || properties === undefined || additionalProperties !== undefined || depth === 0)
    return false
  const isMember = (key: string) => {
    const member = own(properties, key)
    return member !== undefined && covers(member, value[key] as Json, depth - 1)
  }
  return required.every((key) => Object.hasOwn(value, key)) && Object.keys(value).every(isMember)
}

/** As a schema in its usual form: one type is no list. */
export function schemaOf({ type, properties, required, additionalProperties, items }: Shape): JsonObject {
  const members = properties && Object.entries(properties).map(([key, shape]) => [key, schemaOf(shape)])
  return {
    ...(type.length === 0 ? {} : { type: type.length === 1 ? type[0]! : type }),
    ...(members === undefined ? {} : { properties: Object.fromEntries(members) as JsonObject }),
    ...(required === undefined || required.length === 0 ? {} : { required }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: schemaOf(additionalProperties) }),
    ...(items === undefined ? {} : { items: schemaOf(items) }),
  }
}

export function isShape(value: unknown): value is Shape {
  if (!isObject(value) || !Array.isArray(value.type)) return false
  const { properties = {}, items, additionalProperties } = value
  const parts = [items, additionalProperties].filter((part) => part !== undefined)
  return isObject(properties) && [...Object.values(properties), ...parts].every(isShape)
}

/** Nothing is known of it. */
const anything: Shape = { type: [] }

function infer(value: Json, depth: number): Shape {
  if (Array.isArray(value)) {
    if (depth === 0 || value.length === 0) return { type: ['array'] }
    const items = value.slice(0, limits.shapeItemsMax).map((item) => infer(item, depth - 1))
    return { type: ['array'], items: items.reduce(merge) }
  }
  if (!isObject(value)) return { type: [value === null ? 'null' : typeof value] }
  if (depth === 0) return { type: ['object'] }
  const keys = Object.keys(value).slice(0, limits.shapePropertiesMax + 1)
  const members = keys.map((key) => [key, infer(value[key] as Json, depth - 1)])
  return folded({ type: ['object'], properties: Object.fromEntries(members), required: keys.sort() })
}

function merge(left: Shape, right: Shape): Shape {
  const type = [...new Set([...left.type, ...right.type])].sort()
  const items = either(left.items, right.items)
  const others = either(left.additionalProperties, right.additionalProperties)
  return folded({
    type,
    ...(items === undefined ? {} : { items }),
    ...(others === undefined ? {} : { additionalProperties: others }),
    ...mergeProperties(left, right),
  })
}

/** Required is what every object had. */
function mergeProperties(left: Shape, right: Shape): Pick<Shape, 'properties' | 'required'> {
  const [mine, other] = [left.properties, right.properties]
  if (mine === undefined || other === undefined) {
    const only = mine === undefined ? right : left
    const { properties, required = [] } = only
    return properties === undefined ? {} : { properties, required }
  }
  const keys = [...new Set([...Object.keys(mine), ...Object.keys(other)])]
  const members = keys.map((key) => [key, either(own(mine, key), own(other, key))])
  const required = (left.required ?? []).filter((key) => right.required?.includes(key))
  return { properties: Object.fromEntries(members), required }
}

function own(properties: Record<string, Shape>, key: string): Shape | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined
}

function either(left: Shape | undefined, right: Shape | undefined): Shape | undefined {
  return left === undefined ? right : right === undefined ? left : merge(left, right)
}

/**
 * An object with too many different keys is a table: its keys are data, only what stands under them
 * has a shape.
 */
function folded(shape: Shape): Shape {
  const { properties, required: _, additionalProperties, ...rest } = shape
  if (properties === undefined) return shape
  const members = Object.values(properties)
  if (additionalProperties === undefined && members.length <= limits.shapePropertiesMax) return shape
  return { ...rest, additionalProperties: [...members, additionalProperties ?? anything].reduce(merge) }
}

/** What is too large is told with less detail. */
function bounded(shape: Shape): Shape {
  for (let depth: number = limits.shapeDepthMax; depth > 0; depth--) {
    const short = cut(shape, depth)
    if (JSON.stringify(short).length <= limits.shapeBytesMax) return short
  }
  return { type: shape.type }
}

function cut({ type, properties, required, additionalProperties, items }: Shape, depth: number): Shape {
  if (depth === 0) return { type }
  const members = properties && Object.entries(properties).map(([key, shape]) => [key, cut(shape, depth - 1)])
  return {
    type,
    ...(members === undefined ? {} : { properties: Object.fromEntries(members) as Record<string, Shape> }),
    ...(required === undefined ? {} : { required }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: cut(additionalProperties, depth - 1) }),
    ...(items === undefined ? {} : { items: cut(items, depth - 1) }),
  }
}
