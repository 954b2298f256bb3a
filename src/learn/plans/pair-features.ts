/** What tells which of two tools comes first: their past, their names, and where each is meant. */
import type { Evidence, Neighbour } from './evidence.ts'
import { type Experience, nameStemsOf, termsOf } from './experience.ts'

const nearestCount = 5
/** A word of the intent that is in the name itself, beside what words teach of names. */
const ownWordWeight = 3
/** So many pairs speak for the words of a name before those of the tool itself count as much. */
const nameCountsAs = 3

/** Each is about 0 where nothing tells the two apart, and turns its sign with them. */
type Features = (first: string, second: string) => number[]
type Before = (first: string, second: string) => number

/** Features of pairs of tools for one intent; opened once for all intents. */
export type PairReader = (tools: readonly string[], evidence: Evidence) => Features

export function openPairs(experience: Experience): PairReader {
  const { linear, tools: known, words: nameWords, before } = experience
  const numbers = new Map(known.map((tool, at) => [tool, at]))
  const labels = new Map(nameWords.map((word, at) => [word, known.length + at]))
  const always: Before = (first, second) => before[`${numbers.get(first)} ${numbers.get(second)}`] ?? 0
  const [words, ownWords] = [wordsBefore(experience, false), wordsBefore(experience, true)]
  const lateness = openLateness(experience)
  return (tools, { intent, neighbours, clauseOf }) => {
    const places = openPlaces(termsOf(intent), linear)
    const [near, nearest] = [neighbours, neighbours.slice(0, nearestCount)].map(countBefore)
    const stems = new Map(tools.map((tool) => [tool, new Set(nameStemsOf(tool))]))
    const labelsOf = (words: ReadonlySet<string>) => [...words].flatMap((stem) => labels.get(stem) ?? [])
    const spoken = new Map(
      tools.map((tool) => {
        const number = numbers.get(tool)
        const own = places.spoken(number === undefined ? [] : [number])
        const named = places.spoken(labelsOf(stems.get(tool)!))
        return [tool, { own, all: own.map((weight, at) => weight + named[at]! / Math.max(1, stems.get(tool)!.size)) }]
      }),
    )
    const ownAt = (tool: string) => places.centreOf(spoken.get(tool)!.own)
    const apartAt = (tool: string, other: string) =>
      places.centreOf(spoken.get(tool)!.all.map((weight, at) => weight - spoken.get(other)!.all[at]!))
    const namedAt = (tool: string, other: string) => {
      const differing = stems.get(tool)!.difference(stems.get(other)!)
      return places.centreOf(places.spoken(labelsOf(differing), differing))
    }
    return (first, second) => {
      const odds = (count: Before, prior: number) =>
        Math.log((count(first, second) + prior) / (count(second, first) + prior))
      return [
        odds(always, 0.5),
        always(first, second) + always(second, first),
        odds(near!, 0.1),
        odds(nearest!, 0.05),
        ownAt(second) - ownAt(first),
        apartAt(second, first) - apartAt(first, second),
        Math.sign(clauseOf(second) - clauseOf(first)),
        namedAt(second, first) - namedAt(first, second),
        odds(words, 0.3),
        odds(ownWords, 0.3),
        lateness(second) - lateness(first),
        tools.length,
      ]
    }
  }
}

function countBefore(neighbours: readonly Neighbour[]): Before {
  const counts = new Map<string, number>()
  for (const { tools, weight } of neighbours) {
    for (const [at, first] of tools.entries()) {
      for (const second of tools.slice(at + 1)) {
        const key = `${first}\0${second}`
        counts.set(key, (counts.get(key) ?? 0) + weight)
      }
    }
  }
  return (first, second) => counts.get(`${first}\0${second}`) ?? 0
}

/** Past pairs by the numbers of their tools. */
const pairsIn = ({ before }: Experience) =>
  Object.entries(before).map(([pair, count]) => ({ pair: pair.split(' ').map(Number) as [number, number], count }))

/** How often a word of the first name stood in a name before one of the second: search, book. */
function wordsBefore(experience: Experience, isOwn: boolean): Before {
  const counts = new Map<string, number>()
  const pairsOf = (left: readonly string[], right: readonly string[]) => {
    const isTaken = (stem: string, others: readonly string[]) => !isOwn || !others.includes(stem)
    const later = right.filter((stem) => isTaken(stem, left))
    const earlier = left.filter((stem) => isTaken(stem, right))
    return earlier.flatMap((one) => later.flatMap((other) => (one === other ? [] : [`${one} ${other}`])))
  }
  const names = experience.tools.map(nameStemsOf)
  for (const { pair, count } of pairsIn(experience)) {
    const keys = pairsOf(names[pair[0]]!, names[pair[1]]!)
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + count / keys.length)
  }
  return (first, second) =>
    pairsOf(nameStemsOf(first), nameStemsOf(second)).reduce((sum, key) => sum + (counts.get(key) ?? 0), 0)
}

/** How late a tool usually is, from −1 to 1; of one that was hardly used, the words of its name. */
function openLateness(experience: Experience): (tool: string) => number {
  const names = experience.tools.map(nameStemsOf)
  const tally = () => ({ earlier: 0, later: 0 })
  const [byTool, byWord] = [names.map(tally), new Map<string, ReturnType<typeof tally>>()]
  const count = (own: number, other: number, side: 'earlier' | 'later', times: number) => {
    byTool[own]![side] += times
    for (const stem of names[own]!) {
      if (names[other]!.includes(stem)) continue
      const word = byWord.get(stem) ?? tally()
      word[side] += times
      byWord.set(stem, word)
    }
  }
  for (const { pair, count: times } of pairsIn(experience)) {
    count(pair[0], pair[1], 'earlier', times)
    count(pair[1], pair[0], 'later', times)
  }
  const shareOf = ({ earlier, later }: ReturnType<typeof tally>, prior: number) =>
    (later - earlier + nameCountsAs * prior) / (later + earlier + nameCountsAs)
  const numbers = new Map(experience.tools.map((tool, at) => [tool, at]))
  return (tool) => {
    const stems = nameStemsOf(tool)
    const named = stems.reduce((sum, stem) => sum + shareOf(byWord.get(stem) ?? tally(), 0), 0)
    return shareOf(byTool[numbers.get(tool) ?? -1] ?? tally(), named / Math.max(1, stems.length))
  }
}

/** Where in an intent the terms stand that speak for something: 0 begins it, 1 ends it. */
function openPlaces(terms: readonly string[], linear: Experience['linear']) {
  const count = (terms.length + 1) / 2
  const places = terms.map((_, at) => (at < count ? at : at - count + 0.5) / Math.max(1, count))
  return {
    /** How much each term speaks for labels, or is one of the words. */
    spoken: (labels: readonly number[], words?: ReadonlySet<string>): number[] =>
      terms.map((term) =>
        labels.reduce((sum, label) => sum + linear.weightOf(term, label), words?.has(term) ? ownWordWeight : 0),
      ),
    /** Of the terms that speak for it; the middle where none does. */
    centreOf(weights: readonly number[]): number {
      let [sum, total] = [0, 0]
      for (const [at, weight] of weights.entries()) {
        sum += Math.max(0, weight) ** 2 * places[at]!
        total += Math.max(0, weight) ** 2
      }
      return total < 1e-6 ? 0.5 : sum / total
    },
  }
}
