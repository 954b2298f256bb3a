/**
 * What differs between two JSON objects, as a list that can be read by a person and applied again.
 */
import { escapePointerKey, isObject, type JsonObject, limits, type ToolDiff, unescapePointerKey } from '#model'

/** Each field is a JSON Pointer; a side without a value has no member. Lists are compared whole. */
export function diffOf(before: JsonObject, after: JsonObject, place = '', depth = 0): ToolDiff {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => {
    const field = `${place}/${escapePointerKey(key)}`
    const [left, right] = [memberOf(before, key), memberOf(after, key)]
    if (isObject(left) && isObject(right) && depth < limits.toolSchemaDepthMax)
      return diffOf(left as JsonObject, right as JsonObject, field, depth + 1)
    return JSON.stringify(left) === JSON.stringify(right)
      ? []
      : [{ field, ...side('before', left), ...side('after', right) }]
  })
}

/** What `before` becomes. */
export function applyDiff(before: JsonObject, diff: ToolDiff): JsonObject {
  return diff.reduce((value, { field, after }) => {
    const keys = field.split('/').slice(1)
    return replace(value, keys.map(unescapePointerKey), after)
  }, before)
}

function memberOf(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}

function side<Name extends 'before' | 'after'>(name: Name, value: unknown) {
  return (value === undefined ? {} : { [name]: value }) as { [name in Name]?: unknown }
}

function replace(value: unknown, [key = '', ...rest]: string[], after: unknown): JsonObject {
  const { [key]: old, ...others } = (isObject(value) ? value : {}) as JsonObject
  const member = rest.length === 0 ? after : replace(old, rest, after)
  return (member === undefined ? others : { ...others, [key]: member }) as JsonObject
}
