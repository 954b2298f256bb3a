/** Varies the value that a condition tests, such that its outcome may turn. */
import { atPointer, escapePointerKey, isObject, type Json, unescapePointerKey } from '#model'
import type { Question } from '#run/structure'

/** `undefined` removes the member at the path; `failure` lets the call itself fail. */
export type Variation = { path: string; value: Json | undefined } | { failure: true }

/** A value that the tool's schema allows at a path; undefined where the schema says nothing. */
type SampleAt = (path: string) => Json | undefined

/** In a fixed order, the variation that turns the present outcome first. */
export function variationsOf(path: string, asks: Question, present: Json | undefined, sampleAt: SampleAt): Variation[] {
  if (asks.kind === 'failure') return [{ failure: true }]
  if (asks.kind === 'member') {
    const place = `${path}/${escapePointerKey(asks.to)}`
    const isThere = isObject(present) && Object.hasOwn(present, asks.to)
    return [{ path: place, value: isThere ? undefined : (sampleAt(place) ?? true) }]
  }
  const current = memberAt(present, path)
  const values = valuesFor(asks, current, (below) => sampleAt(path + below))
  return values.filter((value) => JSON.stringify(value) !== JSON.stringify(current)).map((value) => ({ path, value }))
}

function valuesFor(asks: Question, current: Json | undefined, sampleAt: SampleAt): (Json | undefined)[] {
  switch (asks.kind) {
    case 'truth':
      return isTruthy(current) ? [falsy(current)] : [truthy(current, sampleAt(''))]
    case 'nothing':
      return current === null || current === undefined ? [truthy(current, sampleAt(''))] : [null]
    case 'there':
      return current === undefined ? [sampleAt('') ?? true] : [undefined]
    case 'items':
      return Array.isArray(current) && current.length > 0 ? [[]] : [[sampleAt('/0') ?? {}], []]
    case 'count':
      return counts(Number(asks.to)).map((count) => itemsLike(current, count, sampleAt('/0')))
    case 'equal':
      return JSON.stringify(current) === JSON.stringify(asks.to) ? [otherThan(asks.to)] : [asks.to, otherThan(asks.to)]
    case 'order':
      return typeof asks.to === 'number' ? [asks.to + 1, asks.to - 1, asks.to] : [`${asks.to}~`, '', asks.to]
    case 'part':
      return Array.isArray(current) ? [[asks.to], []] : [String(asks.to), '', [asks.to]]
    case 'type':
      return [samples[asks.to] ?? {}, asks.to === 'string' ? 1 : 'text']
    case 'list':
      return Array.isArray(current) ? [{}] : [[]]
    default:
      return []
  }
}

const samples: Record<string, Json> = { string: 'text', number: 1, boolean: true, object: {} }

function isTruthy(value: Json | undefined): boolean {
  return Boolean(value)
}

function falsy(value: Json | undefined): Json | undefined {
  if (typeof value === 'boolean') return false
  if (typeof value === 'number') return 0
  return typeof value === 'string' ? '' : null
}

function truthy(value: Json | undefined, sample: Json | undefined): Json {
  if (typeof value === 'boolean') return true
  if (typeof value === 'number') return 1
  if (typeof value === 'string') return 'text'
  return sample || true
}

function counts(count: number): number[] {
  return [count + 1, count, count - 1].filter((wanted) => wanted >= 0 && wanted <= 100)
}

function itemsLike(current: Json | undefined, count: number, item: Json | undefined): Json {
  return typeof current === 'string' ? 'x'.repeat(count) : Array.from({ length: count }, () => item ?? {})
}

function otherThan(value: Json): Json {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  return typeof value === 'string' ? `not ${value}` : 'text'
}

/** The value at a pointer in which `*` is the first item. */
function memberAt(value: Json | undefined, path: string): Json | undefined {
  return atPointer(value, path.replaceAll('/*', '/0')) as Json | undefined
}

/** A copy with another value at the pointer; missing parents are created. */
export function changed(root: Json | undefined, path: string, value: Json | undefined): Json {
  const keys = path.split('/').slice(1).map(unescapePointerKey)
  return put(root, keys, value) ?? null
}

function put(current: Json | undefined, [key, ...rest]: string[], value: Json | undefined): Json | undefined {
  if (key === undefined) return value
  if (key === '*' || (!isObject(current) && /^\d+$/.test(key))) {
    const list = Array.isArray(current) ? [...current] : []
    const index = key === '*' ? 0 : Number(key)
    list[index] = put(list[index], rest, value) ?? null
    return list
  }
  const { [key]: member, ...others } = (isObject(current) ? current : {}) as Record<string, Json>
  const next = put(member, rest, value)
  return next === undefined ? others : { ...others, [key]: next }
}
