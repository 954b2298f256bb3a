/** A graph with parameters becomes a plan: arguments stand where `{ "$args": "/name" }` did. */
import { atPointer, type DagTask, isObject, type Json, type JsonObject } from '#model'

/**
 * Values are literals: nothing in them is taken for a binding. A parameter not given is left out.
 */
export function instantiate(tasks: DagTask[], args: Json): DagTask[] {
  return tasks.map((task) =>
    task.arguments === undefined ? task : { ...task, arguments: fill(task.arguments, args) as JsonObject },
  )
}

const missing = Symbol('missing')

function fill(value: Json, args: Json): Json | typeof missing {
  if (Array.isArray(value)) return value.map((item) => fill(item, args)).map((item) => (item === missing ? null : item))
  if (!isObject(value) || Object.hasOwn(value, '$literal')) return value
  if (typeof value.$args === 'string') {
    const given = atPointer(args, value.$args)
    return given === undefined ? missing : { $literal: given as Json }
  }
  const members = Object.entries(value).map(([key, member]) => [key, fill(member as Json, args)] as const)
  return Object.fromEntries(members.flatMap(([key, member]) => (member === missing ? [] : [[key, member]])))
}
