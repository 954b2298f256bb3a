/** Other values for what a condition asks about: such that the answer may turn. */
import { atPointer, isObject, type Json } from '#model'
import type { Question } from './structure/structure.ts'

/** `undefined` is nothing at that place; a failure is the call's. */
export type Variation = { path: string; value: Json | undefined } | { failure: true }

/** What may stand at a place of which only the kind is known. */
export type SampleAt = (path: string) => Json | undefined

/** In a fixed order: what turns the present answer first. */
export function variationsOf(path: string, asks: Question, present: Json | undefined, sampleAt: SampleAt): Variation[] {
  if (asks.kind === 'failure') return [{ failure: true }]
  if (asks.kind === 'member') {
    const place = `${path}/${asks.to.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const isThere = isObject(present) && Object.hasOwn(present, asks.to)
    return [{ path: place, value: isThere ? undefined : (sampleAt(place) ?? true) }]
  }
  const here = memberAt(present, path)
  const values = valuesFor(asks, here, (below) => sampleAt(path + below))
  return values.filter((value) => JSON.stringify(value) !== JSON.stringify(here)).map((value) => ({ path, value }))
}

function valuesFor(asks: Question, here: Json | undefined, sampleAt: SampleAt): (Json | undefined)[] {
  switch (asks.kind) {
    case 'truth':
      return isTruthy(here) ? [falsy(here)] : [truthy(here, sampleAt(''))]
    case 'nothing':
      return here === null || here === undefined ? [truthy(here, sampleAt(''))] : [null]
    case 'there':
      return here === undefined ? [sampleAt('') ?? true] : [undefined]
    case 'items':
      return Array.isArray(here) && here.length > 0 ? [[]] : [[sampleAt('/0') ?? {}], []]
    case 'count':
      return counts(Number(asks.to)).map((count) => itemsLike(here, count, sampleAt('/0')))
    case 'equal':
      return JSON.stringify(here) === JSON.stringify(asks.to) ? [otherThan(asks.to)] : [asks.to, otherThan(asks.to)]
    case 'order':
      return typeof asks.to === 'number' ? [asks.to + 1, asks.to - 1, asks.to] : [`${asks.to}~`, '', asks.to]
    case 'part':
      return Array.isArray(here) ? [[asks.to], []] : [String(asks.to), '', [asks.to]]
    case 'type':
      return [samples[asks.to] ?? {}, asks.to === 'string' ? 1 : 'text']
    case 'list':
      return Array.isArray(here) ? [{}] : [[]]
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

function itemsLike(here: Json | undefined, count: number, item: Json | undefined): Json {
  return typeof here === 'string' ? 'x'.repeat(count) : Array.from({ length: count }, () => item ?? {})
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

/** A copy with another value at the pointer; what leads there is made where it is missing. */
export function changed(root: Json | undefined, path: string, value: Json | undefined): Json {
  const keys = path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return put(root, keys, value) ?? null
}

function put(here: Json | undefined, [key, ...rest]: string[], value: Json | undefined): Json | undefined {
  if (key === undefined) return value
  if (key === '*' || (!isObject(here) && /^\d+$/.test(key))) {
    const list = Array.isArray(here) ? [...here] : []
    const index = key === '*' ? 0 : Number(key)
    list[index] = put(list[index], rest, value) ?? null
    return list
  }
  const { [key]: member, ...others } = (isObject(here) ? here : {}) as Record<string, Json>
  const next = put(member, rest, value)
  return next === undefined ? others : { ...others, [key]: next }
}
