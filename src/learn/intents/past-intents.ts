/**
 * Past runs by the words of their intents, added one after the other. Bounded against stuffing: an
 * intent is its first distinct stems, what is longer than both have in common counts against it,
 * and saying the same again adds no vote.
 */

import { stemsOf } from '#learn/text'
import { limits } from '#model'

/** A run as far as it is looked at here. */
type IntentRun = { intent: string | null; subject: string | null; status: string; tools: readonly string[] }

/** Runs of one subject with the same words and the same tools. */
export type PastIntent = {
  /** As it was said first. */
  intent: string
  stems: readonly string[]
  /** Each once, in the order of their first calls. */
  tools: readonly string[]
  subject: string | null
  done: number
  failed: number
}

/** `likeness` is the weight of the words that both have, as a part of the words of both. */
export type NearIntent = { past: PastIntent; likeness: number }

export type PastIntents = {
  add(run: IntentRun): void
  /** The most alike of those that `accepts` lets pass, at most `limits.learnNearIntentsMax`. */
  nearest(intent: string, accepts?: (past: PastIntent) => boolean): NearIntent[]
  all(): readonly PastIntent[]
}

/** Rare stems find first; common ones are not read any more after so many places. */
const readMax = 6000
/** Of a stem that more places have, those with the shortest intents: such are the most alike. */
const commonMax = 1000
const windowFactor = 5
/** By how many stems an intent has. */
const lengthRoots = Float64Array.from({ length: limits.learnIntentStemsMax + 1 }, (_, count) => Math.sqrt(4 + count))

export const clipped = (intent: string) => intent.slice(0, limits.learnIntentCharactersMax)

const intentStems = (intent: string) => [...new Set(stemsOf(clipped(intent)))].slice(0, limits.learnIntentStemsMax)

export function openPastIntents(runs: Iterable<IntentRun> = []): PastIntents {
  const all: PastIntent[] = []
  const byKey = new Map<string, PastIntent>()
  /** The numbers of the stems of all, and where those of each intent begin. */
  const numbers: number[] = []
  const starts = [0]
  const lengthOf = (place: number) => starts[place + 1]! - starts[place]!
  const postings = openPostings(lengthOf)
  const { countOf } = postings
  const rarity = (count: number) => Math.log(1 + (all.length + 1) / (1 + count))
  const add = ({ intent, subject, status, tools }: IntentRun) => {
    if (intent === null || tools.length === 0) return
    const stems = intentStems(intent)
    const unique = [...new Set(tools)]
    const key = [subject ?? '', [...stems].sort().join(' '), unique.join(' ')].join('\0')
    let past = byKey.get(key)
    if (past === undefined) {
      past = { intent: clipped(intent), stems, tools: unique, subject, done: 0, failed: 0 }
      byKey.set(key, past)
      const place = all.push(past) - 1
      starts.push(numbers.length + stems.length)
      for (const stem of stems) numbers.push(postings.add(stem, place))
    }
    if (status === 'done') past.done++
    else past.failed++
  }
  const candidates = openCandidates(postings, lengthOf, rarity)
  for (const run of runs) add(run)
  return {
    add,
    nearest(intent, accepts = () => true) {
      const stems = intentStems(intent).map(postings.numberOf)
      const own = stems.reduce((sum, stem) => sum + rarity(countOf(stem)), 0)
      const asked = new Set(stems)
      const places = candidates(stems, all.length, (place) => accepts(all[place]!))
      const likeness = Float64Array.from(places, (place) => {
        let [shared, whole] = [0, 0]
        for (let at = starts[place]!; at < starts[place + 1]!; at++) {
          const weight = rarity(countOf(numbers[at]!))
          if (asked.has(numbers[at]!)) shared += weight
          whole += weight
        }
        return (2 * shared) / (own + whole)
      })
      // Rounded, the least may be above one that counts.
      const least = leastOf(likeness, limits.learnNearIntentsMax) * (1 - 1e-9)
      const near: NearIntent[] = []
      for (const [at, place] of places.entries()) {
        if (likeness[at]! >= least) near.push({ past: all[place]!, likeness: likeness[at]! })
      }
      return near.sort((a, b) => b.likeness - a.likeness).slice(0, limits.learnNearIntentsMax)
    },
    all: () => all,
  }
}

/** The places that share most with some stems, found by their rarer ones. */
function openCandidates(
  { countOf, placesOf }: ReturnType<typeof openPostings>,
  lengthOf: (place: number) => number,
  rarity: (count: number) => number,
) {
  /** By place the sum so far; the places that have one, and their scores. */
  let sums = new Float32Array(1024)
  let touched = new Int32Array(1024)
  let scores = new Float64Array(1024)
  return (stems: readonly number[], size: number, accepts: (place: number) => boolean) => {
    if (sums.length < size) {
      sums = new Float32Array(2 * size)
      touched = new Int32Array(sums.length)
      scores = new Float64Array(sums.length)
    }
    let [read, count] = [0, 0]
    for (const stem of [...stems].sort((a, b) => countOf(a) - countOf(b))) {
      read += countOf(stem)
      if (read > readMax && count > 0) break
      const weight = rarity(countOf(stem))
      for (const place of placesOf(stem)) {
        if (sums[place] === 0) touched[count++] = place
        sums[place]! += weight
      }
    }
    for (let at = 0; at < count; at++) {
      const place = touched[at]!
      scores[at] = sums[place]! / lengthRoots[lengthOf(place)]!
      sums[place] = 0
    }
    const least = leastOf(scores.subarray(0, count), windowFactor * limits.learnNearIntentsMax)
    const found: number[] = []
    for (let at = 0; at < count; at++) {
      if (scores[at]! >= least && accepts(touched[at]!)) found.push(touched[at]!)
    }
    return found
  }
}

/**
 * Stems by number: in how many past intents each is, and the places of those among which it is
 * looked for.
 */
function openPostings(lengthOf: (place: number) => number) {
  const known = new Map<string, number>()
  const counts: number[] = []
  const placesByStem: number[][] = []
  /** The shorter first, then the older: what is left is the same whenever it is looked at. */
  const shortest = (places: number[]) =>
    places.sort((left, right) => lengthOf(left) - lengthOf(right) || left - right).slice(0, commonMax)
  return {
    /** Negative where no intent has it. */
    numberOf: (stem: string) => known.get(stem) ?? -1,
    countOf: (stem: number) => (stem < 0 ? 0 : counts[stem]!),
    add(stem: string, place: number): number {
      const number = known.get(stem) ?? counts.push(0) - 1
      known.set(stem, number)
      const count = ++counts[number]!
      const places = placesByStem[number] ?? []
      places.push(place)
      placesByStem[number] = count > readMax && places.length >= 2 * commonMax ? shortest(places) : places
      return number
    },
    placesOf(stem: number): readonly number[] {
      const places = placesByStem[stem]
      if (places === undefined) return []
      if (counts[stem]! > readMax && places.length > commonMax) placesByStem[stem] = shortest(places)
      return placesByStem[stem]!
    },
  }
}

/** The score that about `count` of them reach, found without sorting them all. */
function leastOf(scores: Float64Array, count: number): number {
  if (scores.length <= count) return 0
  let top = 0
  for (const score of scores) top = Math.max(top, score)
  const bins = new Int32Array(256)
  for (const score of scores) bins[Math.min(255, Math.floor((256 * score) / top))]!++
  let [bin, sum] = [256, 0]
  while (bin > 0 && sum < count) sum += bins[--bin]!
  return (bin * top) / 256
}
