/**
 * Which place in a program made which call of a run. What the text says decides: straight code
 * makes each of its calls once and in order, of a branch one arm is taken, a loop begins again at
 * its start; and a place gives what it hands on from results that have it. Of the readings that are
 * left, the one with the fewest oddities is taken.
 */
import { isDeepStrictEqual } from 'node:util'
import { atPointer, escapePointerKey, isObject, type Json, limits } from '#model'
import type { LessonCall } from './lesson.ts'
import type { CallSite, ReadProgram } from './read-program.ts'

export type CallsBySite = ReadonlyMap<string, LessonCall[]>

/** One way to read the run so far. `last`: the place in the text up to which straight code went. */
type Reading = { made: Map<string, LessonCall[]>; last: number; oddity: number }

/** What a reading costs that passes over a call, or begins a loop in its middle. */
const [passedOver, turnedBack, otherKeys, tookAgain, computedOnly] = [10, 3, 4, 4, 0.5]

export function callsBySite({ sites }: ReadProgram, calls: readonly LessonCall[]): CallsBySite {
  const straight = inStraightCode(sites, calls)
  if (straight !== null) return straight
  let readings: Reading[] = [{ made: new Map(), last: -1, oddity: 0 }]
  for (const call of calls) {
    const next = readings.flatMap((reading) => readOn(reading, sites, call))
    // A call that no place fits stands for itself.
    if (next.length > 0)
      readings = next.sort((left, right) => left.oddity - right.oddity).slice(0, limits.callReadingsMax)
  }
  const left = readings.map((reading) => ({
    ...reading,
    oddity: reading.oddity + passed(sites, reading, sites.length),
  }))
  return left.reduce((best, one) => (one.oddity < best.oddity ? one : best)).made
}

/** Where nothing repeats or branches, and as many calls were made as there are places. */
function inStraightCode(sites: readonly CallSite[], calls: readonly LessonCall[]): CallsBySite | null {
  const isStraight = sites.length === calls.length && sites.every((site) => site.arms.size === 0 && isCertain(site))
  const isTheirs = isStraight && calls.every(({ tool }, at) => sites[at]!.tools.some((named) => isTool(named, tool)))
  return isTheirs ? new Map(sites.map(({ id }, at) => [id, [calls[at]!]])) : null
}

function readOn(reading: Reading, sites: readonly CallSite[], call: LessonCall): Reading[] {
  return sites.flatMap((site, index): Reading[] => {
    const { made, last } = reading
    if (!fits(site, call, made)) return []
    const step = stepTo(reading, sites, site, index)
    if (step === null) return []
    const own = new Map(made).set(site.id, [...(made.get(site.id) ?? []), call])
    return [
      {
        made: own,
        last: site.isInFunction ? last : index,
        oddity: reading.oddity + step + oddKeys(site, call) + unseen(site) + takenAgain(site, call, made),
      },
    ]
  })
}

/** How odd it is to go on with this place; null where the text does not let it. */
function stepTo(reading: Reading, sites: readonly CallSite[], site: CallSite, index: number): number | null {
  const { made, last } = reading
  if (site.isInFunction) return 0
  if (otherArmTaken(reading, sites, site)) return null
  if (index > last) return made.has(site.id) && site.repeatedBy.size === 0 ? null : passed(sites, reading, index)
  if (site.repeatedBy.size === 0) return null
  const shared = sites[last]!.repeatedBy.intersection(site.repeatedBy)
  return shared.size > 0 ? passedInLoop(sites, reading, index, shared) : turnedBack
}

/** Straight code that was passed over without a call, though it makes one whatever happens. */
function passed(sites: readonly CallSite[], { made, last }: Reading, to: number): number {
  const between = sites.slice(last + 1, to).filter((site) => isCertain(site) && !made.has(site.id))
  return between.length * passedOver
}

/** A loop begins again at its first call, after its last. */
function passedInLoop(sites: readonly CallSite[], { last }: Reading, to: number, shared: ReadonlySet<string>): number {
  const inside = sites
    .map((site, index) => ({ site, index }))
    .filter(({ site, index }) => {
      const isIn = site.repeatedBy.size === shared.size && !site.repeatedBy.isDisjointFrom(shared)
      return isIn && site.arms.size === 0 && (index > last || index < to)
    })
  return inside.length * turnedBack
}

const isCertain = ({ repeatedBy, isInFunction, arms }: CallSite) =>
  repeatedBy.size === 0 && !isInFunction && [...arms.values()].every((arm) => arm === 'try' || arm === 'finally')

function otherArmTaken({ made }: Reading, sites: readonly CallSite[], site: CallSite): boolean {
  if (site.repeatedBy.size > 0) return false
  return sites.some(({ id, arms }) => {
    if (!made.has(id)) return false
    return [...arms].some(([branch, arm]) => {
      const own = site.arms.get(branch)
      return own !== undefined && own !== arm && (arm === 'then' || arm === 'else')
    })
  })
}

function fits(site: CallSite, call: LessonCall, made: CallsBySite): boolean {
  if (site.tools.length > 0 && !site.tools.some((tool) => isTool(tool, call.tool))) return false
  return site.inputsByPath.every(([path, inputs]) => {
    const value = atPointer(call.args, path) as Json | undefined
    return inputs.some(({ source }) => {
      if (!source.exact || source.kind === 'args') return true
      if (source.kind === 'literal') return source.value === value
      const earlier = (made.get(source.node) ?? []).filter(({ end, ok }) => ok && end < call.start)
      return earlier.some(({ result }) => placesOf(result, source.path, value).length > 0)
    })
  })
}

/** A program names a capability with or without the version that it was resolved to. */
const isTool = (named: string, called: string) =>
  named === called || (called.startsWith('cap:') && called.replace(/@\d+$/, '') === named)

/** A list is gone through once: as many times as it has a value, that is taken from it. */
function takenAgain(site: CallSite, call: LessonCall, made: CallsBySite): number {
  const isOdd = site.inputsByPath.some(([path, inputs]) => {
    const lists = inputs.flatMap(({ source }) => (source.kind === 'call' && source.exact ? [source] : []))
    if (lists.length < inputs.length || !lists.every((source) => source.path.includes('*'))) return false
    const value = atPointer(call.args, path) as Json | undefined
    const results = lists.flatMap((source) => (made.get(source.node) ?? []).map(({ result }) => ({ result, source })))
    const there = results.flatMap(({ result, source }) => placesOf(result, source.path, value)).length
    const before = (made.get(site.id) ?? []).filter(({ args }) =>
      isDeepStrictEqual(atPointer(args, path), value),
    ).length
    return before >= there
  })
  return isOdd ? tookAgain : 0
}

/** A value that is seen to be handed on speaks for a place, one that may be computed does not. */
function unseen({ inputsByPath }: CallSite): number {
  return inputsByPath.filter(([, own]) => own.every(({ source }) => !source.exact)).length * computedOnly
}

/** Keys that it would give and the call has not, and the other way round. */
function oddKeys({ inputs }: CallSite, { args }: LessonCall): number {
  const written = new Set(inputs.map(({ path }) => path.split('/')[1] ?? ''))
  if (written.has('') || !isObject(args)) return 0
  const given = new Set(Object.keys(args).map(escapePointerKey))
  return given.symmetricDifference(written).size * otherKeys
}

/** Where a result has the value, at a pointer in which `*` is some member. */
export function placesOf(result: Json | undefined, pattern: string, value: Json | undefined): string[] {
  if (result === undefined || value === undefined) return []
  if (!pattern.includes('*')) {
    const there = atPointer(result, pattern)
    return there === value || (there !== undefined && isDeepStrictEqual(there, value)) ? [pattern] : []
  }
  const wanted = JSON.stringify(value)
  const found: string[] = []
  const look = (here: Json | undefined, keys: string[], path: string): void => {
    const [key, ...rest] = keys
    if (here === undefined) return
    if (key === undefined) return void (JSON.stringify(here) === wanted && found.push(path))
    const isAny = key === '*' && typeof here === 'object' && here !== null
    const names = isAny ? Object.keys(here).map(escapePointerKey) : [key]
    for (const name of names.slice(0, limits.flowLeavesMax))
      look(atPointer(here, `/${name}`) as Json | undefined, rest, `${path}/${name}`)
  }
  look(result, pattern.split('/').slice(1), '')
  return found
}
