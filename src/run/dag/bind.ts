/** How the arguments of a task take values from the results of others. */
import { AppError, atPointer, type Binding, escapePointerKey, isObject, type Json, limits, toText } from '#model'

type Results = { get(task: string): Json | undefined }

/**
 * A place in a value that takes something from elsewhere: a task's result, the item of a forEach,
 * or either inside a text.
 */
export type Bound = { at: string; $from?: string; path: string; isText: boolean }

/** What a value takes from elsewhere, in the order in which it stands there. */
export function boundsOf(value: Json, at = ''): Bound[] {
  if (typeof value === 'string') {
    const parts = [...value.matchAll(interpolation)].filter(([, escaped]) => escaped === '')
    return parts.map(([, , $from, path]) => ({ at, $from: $from!, path: path!, isText: true }))
  }
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, '$literal')) return []
  const { $from, $item, path = '' } = value as Record<string, unknown>
  if (typeof $from === 'string') return [{ at, $from, path: String(path), isText: false }]
  if (typeof $item === 'string') return [{ at, path: $item, isText: false }]
  return Object.entries(value).flatMap(([key, member]) => boundsOf(member, `${at}/${escapePointerKey(key)}`))
}

export function sourcesOf(value: Json): string[] {
  return boundsOf(value).flatMap(({ $from }) => $from ?? [])
}

/**
 * The value as far as it is known before anything ran; null stands where something is still to
 * come.
 */
export function sketch(value: Json): Json {
  if (typeof value === 'string') return value.replace(interpolation, (whole, escaped) => whole.slice(escaped.length))
  if (Array.isArray(value)) return value.map(sketch)
  if (!isObject(value)) return value
  if (Object.hasOwn(value, '$literal')) return value.$literal as Json
  if (typeof value.$from === 'string' || typeof value.$item === 'string') return null
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, sketch(member as Json)]))
}

const interpolation = /(\\?)\{\{([^{}/]+)((?:\/[^{}]*)?)\}\}/g

/**
 * The value with every binding replaced by what it names; `item` is the current one of a forEach.
 */
export function bind(value: Json, results: Results, item?: Json): Json {
  if (typeof value === 'string') return interpolate(value, results)
  if (Array.isArray(value)) return value.map((member) => bind(member, results, item))
  if (!isObject(value)) return value
  if (Object.hasOwn(value, '$literal')) return value.$literal as Json
  if (typeof value.$from === 'string') return take(value as Binding, results)
  if (typeof value.$item === 'string' && item !== undefined) return takeItem(value.$item, item)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, bind(member as Json, results, item)]))
}

/** The value that a binding names; undefined where there is none. */
export function look({ $from, path = '' }: Binding, results: Results): Json | undefined {
  return atPointer(results.get($from), path) as Json | undefined
}

export function take(binding: Binding, results: Results): Json {
  const value = look(binding, results)
  if (value !== undefined) return value
  const { $from, path = '' } = binding
  const message = `Cannot bind {"$from":"${$from}","path":"${path}"}: the result has nothing there`
  const result = toText(results.get($from) ?? null).slice(0, limits.previewCharactersMax)
  throw new AppError('PLAN_INVALID', message, { task: $from, path, result })
}

function takeItem(path: string, item: Json): Json {
  const value = atPointer(item, path)
  if (value !== undefined) return value as Json
  const shown = toText(item).slice(0, limits.previewCharactersMax)
  throw new AppError('PLAN_INVALID', `Cannot bind {"$item":"${path}"}: the item has nothing there`, {
    path,
    item: shown,
  })
}

function interpolate(text: string, results: Results): string {
  return text.replace(interpolation, (whole, escaped: string, id: string, path: string) => {
    if (escaped !== '') return whole.slice(1)
    const value = take({ $from: id, path }, results)
    return typeof value === 'string' ? value : toText(value)
  })
}
