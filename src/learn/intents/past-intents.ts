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

export const clipped = (intent: string) => intent.slice(0, limits.learnIntentCharactersMax)

const intentStems = (intent: string) => [...new Set(stemsOf(clipped(intent)))].slice(0, limits.learnIntentStemsMax)

export function openPastIntents(runs: Iterable<IntentRun> = []): PastIntents {
  const all: PastIntent[] = []
  const byKey = new Map<string, PastIntent>()
  const postings = openPostings((place) => all[place]!.stems.length)
  let sums = new Float32Array(1024)

  const { countOf } = postings
  const rarity = (stem: string) => Math.log(1 + (all.length + 1) / (1 + countOf(stem)))
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
      for (const stem of stems) postings.add(stem, place)
    }
    if (status === 'done') past.done++
    else past.failed++
  }
  /** The places that share most with the stems, found by their rarer ones. */
  const candidates = (stems: readonly string[], accepts: (past: PastIntent) => boolean) => {
    if (sums.length < all.length) sums = new Float32Array(2 * all.length)
    const touched: number[] = []
    let read = 0
    for (const stem of [...stems].sort((a, b) => countOf(a) - countOf(b))) {
      read += countOf(stem)
      if (read > readMax && touched.length > 0) break
      const weight = rarity(stem)
      for (const place of postings.placesOf(stem)) {
        if (sums[place] === 0) touched.push(place)
        sums[place]! += weight
      }
    }
    const length = (place: number) => Math.sqrt(4 + all[place]!.stems.length)
    const scored = touched.map((place) => ({ place, score: sums[place]! / length(place) }))
    for (const place of touched) sums[place] = 0
    const least = leastOf(scored, windowFactor * limits.learnNearIntentsMax)
    return scored.filter(({ place, score }) => score >= least && accepts(all[place]!)).map(({ place }) => place)
  }
  for (const run of runs) add(run)
  return {
    add,
    nearest(intent, accepts = () => true) {
      const stems = intentStems(intent)
      const asked = new Set(stems)
      const weigh = weighing(rarity)
      const own = weigh(stems)
      const near = candidates(stems, accepts).map((place): NearIntent => {
        const past = all[place]!
        const shared = weigh(past.stems.filter((stem) => asked.has(stem)))
        return { past, likeness: (2 * shared) / (own + weigh(past.stems)) }
      })
      return near.sort((a, b) => b.likeness - a.likeness).slice(0, limits.learnNearIntentsMax)
    },
    all: () => all,
  }
}

/** In how many past intents each stem is, and the places of those among which it is looked for. */
function openPostings(lengthOf: (place: number) => number) {
  const known = new Map<string, { count: number; places: number[] }>()
  /** The shorter first, then the older: what is left is the same whenever it is looked at. */
  const shortest = (places: number[]) =>
    places.sort((left, right) => lengthOf(left) - lengthOf(right) || left - right).slice(0, commonMax)
  return {
    countOf: (stem: string) => known.get(stem)?.count ?? 0,
    add(stem: string, place: number) {
      const posting = known.get(stem) ?? { count: 0, places: [] }
      known.set(stem, posting)
      posting.count++
      posting.places.push(place)
      if (posting.count > readMax && posting.places.length >= 2 * commonMax) posting.places = shortest(posting.places)
    },
    placesOf(stem: string): readonly number[] {
      const posting = known.get(stem)
      if (posting === undefined) return []
      if (posting.count > readMax && posting.places.length > commonMax) posting.places = shortest(posting.places)
      return posting.places
    },
  }
}

/** The summed weight of stems, each of which is looked up once. */
function weighing(rarity: (stem: string) => number): (stems: readonly string[]) => number {
  const known = new Map<string, number>()
  const weightOf = (stem: string) => {
    const weight = known.get(stem) ?? rarity(stem)
    known.set(stem, weight)
    return weight
  }
  return (stems) => stems.reduce((sum, stem) => sum + weightOf(stem), 0)
}

/** The score that about `count` of them reach, found without sorting them all. */
function leastOf(scored: readonly { score: number }[], count: number): number {
  if (scored.length <= count) return 0
  const top = scored.reduce((most, { score }) => Math.max(most, score), 0)
  const bins = new Int32Array(256)
  const binOf = (score: number) => Math.min(255, Math.floor((256 * score) / top))
  for (const { score } of scored) bins[binOf(score)]!++
  let [bin, sum] = [256, 0]
  while (bin > 0 && sum < count) sum += bins[--bin]!
  return (bin * top) / 256
}
