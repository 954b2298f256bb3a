/** A capability as people other than its own see it, where that is shared. */
import { isObject, type JsonObject } from '#model'
import type { Capability } from './capability-status.ts'

/**
 * What it does and takes, none of their values: a default is one, and the words of a run's intent
 * have some in them. What had a default has to be given.
 */
export function withoutValues(one: Capability): Capability {
  const { properties, required, ...schema } = one.parametersSchema
  const all = Object.entries(isObject(properties) ? properties : {}) as [string, JsonObject][]
  const bare = all.map(([name, { default: _, ...type }]): [string, JsonObject] => [name, type])
  const had = all.flatMap(([name, property]) => (property.default === undefined ? [] : [name]))
  const needed = [...(Array.isArray(required) ? required : []), ...had]
  return {
    ...one,
    intent: one.name.replaceAll('_', ' '),
    parametersSchema: { ...schema, properties: Object.fromEntries(bare), required: needed },
  }
}
