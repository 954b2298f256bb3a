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

/** A literal may have a parameter inside of it. */
function literal(value: Json, args: Json): Json {
  if (typeof value === 'string') return filledText(value, args) ?? value
  if (Array.isArray(value)) return value.map((item) => literal(item, args))
  if (!isObject(value)) return value
  if (typeof value.$args === 'string') return (atPointer(args, value.$args) ?? null) as Json
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, literal(member as Json, args)]))
}

/** `{{$args/name}}` inside of a text; null where there is none. */
function filledText(text: string, args: Json): string | null {
  if (!text.includes('{{$args/')) return null
  return text.replace(/\{\{\$args(\/[^}]*)\}\}/g, (_, path: string) => {
    const value = atPointer(args, path) ?? null
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}

const missing = Symbol('missing')

function fill(value: Json, args: Json): Json | typeof missing {
  if (Array.isArray(value)) return value.map((item) => fill(item, args)).map((item) => (item === missing ? null : item))
  if (typeof value === 'string') {
    const text = filledText(value, args)
    return text === null ? value : { $literal: text }
  }
  if (!isObject(value)) return value
  if (Object.hasOwn(value, '$literal')) return { $literal: literal(value.$literal as Json, args) }
  if (typeof value.$args === 'string') {
    const given = atPointer(args, value.$args)
    return given === undefined ? missing : { $literal: given as Json }
  }
  const members = Object.entries(value).map(([key, member]) => [key, fill(member as Json, args)] as const)
  return Object.fromEntries(members.flatMap(([key, member]) => (member === missing ? [] : [[key, member]])))
}
