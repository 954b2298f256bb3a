/**
 * What speaks for each tool that an intent may mean: the words of past intents and of their
 * clauses, the plans of the nearest ones, what goes with likely tools, names and descriptions.
 */
import type { NearIntent } from '#learn/intents'
import { stemsOf } from '#learn/text'
import { type Experience, nameStemsOf, termsOf } from './experience.ts'

/** `weight` tells how alike its intent is, the nearest has about 1; `share` is its part of all. */
export type Neighbour = { tools: readonly string[]; weight: number; share: number }

export type Evidence = {
  intent: string
  /** By tool that may be meant, its features. */
  candidates: ReadonlyMap<string, number[]>
  neighbours: readonly Neighbour[]
  /** How alike the nearest past intent is, at most 1. */
  nearest: number
  /** In which clause of the intent a tool is meant most. */
  clauseOf(tool: string): number
}

/** By tool, the score of its words alone, as discover has it. */
export type WordScores = ReadonlyMap<string, number>

/** Opened once for all intents that are asked. */
type Witness = (intent: string, near: readonly NearIntent[], words: WordScores) => Evidence

const likenessPower = 3
/** The logit of tools and words of names that no plan ever had. */
const [unusedTool, unusedWord] = [-7, -4]
const likelyMin = 0.05
const [byWeightsMax, byWordsMax, byVoteMax, byNameMax, namesReadMax] = [20, 15, 20, 12, 40]

/** Features that are never negative: their logarithm tells more. */
export const positiveFeatures = [2, 3, 4, 5, 9, 10, 11, 12, 13, 18]

export function openWitness(experience: Experience): Witness {
  const { linear, tools, words: nameWords, frequency, together } = experience
  const numbers = new Map(tools.map((tool, at) => [tool, at]))
  const wordLabels = new Map(nameWords.map((word, at) => [word, tools.length + at]))
  const names = new Map<string, string[]>()
  const nameOf = (tool: string) => {
    const stems = names.get(tool) ?? nameStemsOf(tool)
    names.set(tool, stems)
    return stems
  }
  return (intent, near, words) => {
    const logits = linear.logits(termsOf(intent))
    const clauses = clausesOf(intent).map((clause) => linear.logits(clause))
    const logitOf = (tool: string) => logits[numbers.get(tool) ?? -1] ?? unusedTool
    const clauseOf = (tool: string) => bestClause(clauses, numbers.get(tool))
    const clauseLogit = (tool: string) => clauses[clauseOf(tool)]?.[numbers.get(tool)!] ?? logitOf(tool)
    const neighbours = neighboursOf(near)
    const [three, few, many] = [3, 10, near.length].map((count) => voteOf(neighbours.slice(0, count)))
    const nearest = near[0]?.likeness ?? 0
    const byWeights = placesOf(new Map(tools.map((tool) => [tool, logitOf(tool)])))
    const byWords = placesOf(words)
    const read = new Set([...tools, ...firstOf(byWords, namesReadMax)])
    const named = new Map([...read].map((tool) => [tool, nameEvidence(nameOf(tool), logits, wordLabels)]))
    const byName = placesOf(new Map([...named].map(([tool, { mean }]) => [tool, mean])))
    const likely = tools.flatMap((tool, at) => {
      const share = 1 / (1 + Math.exp(-logits[at]!))
      return share > likelyMin ? [{ tool, at, share }] : []
    })
    const besides = new Map<number, { sum: number; most: number }>()
    for (const { at, share } of likely) {
      for (const [other, part] of together[at]!) {
        const { sum, most } = besides.get(other) ?? { sum: 0, most: 0 }
        besides.set(other, { sum: sum + share * part, most: Math.max(most, share * part) })
      }
    }
    const top = Math.max(...tools.map(logitOf), unusedTool)
    const topWords = Math.max(0.01, ...words.values())
    const stems = new Set(stemsOf(intent))
    const candidates = new Map<string, number[]>()
    for (const tool of candidatesOf([byWeights, byWords, placesOf(many!), byName])) {
      const logit = logitOf(tool)
      const own = nameOf(tool)
      const name = named.get(tool) ?? nameEvidence(own, logits, wordLabels)
      const beside = besides.get(numbers.get(tool) ?? -1)
      candidates.set(tool, [
        logit,
        logit - top,
        few!.get(tool) ?? 0,
        many!.get(tool) ?? 0,
        three!.get(tool) ?? 0,
        (words.get(tool) ?? 0) / topWords,
        Math.log1p(frequency[numbers.get(tool) ?? -1] ?? 0),
        name.mean,
        name.least,
        beside?.sum ?? 0,
        beside?.most ?? 0,
        byWeights.get(tool) ?? unknownPlace,
        byWords.get(tool) ?? unknownPlace,
        byName.get(tool) ?? unknownPlace,
        own.filter((stem) => stems.has(stem)).length / Math.max(1, own.length),
        nearest,
        stems.size,
        neighbours[0]?.tools.includes(tool) ? nearest : 0,
        words.get(tool) ?? 0,
        clauseLogit(tool),
      ])
    }
    return { intent, candidates, neighbours, nearest, clauseOf }
  }
}

const unknownPlace = 100

/** The terms of each part of an intent that stands between signs and joining words. */
function clausesOf(intent: string): string[][] {
  const parts = intent.split(/[,.;!?]|\b(?:and|then|also|after|before|finally)\b/)
  return parts.map(termsOf).filter(({ length }) => length > 1)
}

function bestClause(clauses: readonly Float32Array[], label: number | undefined): number {
  if (label === undefined) return -1
  let best = -1
  for (const [at, logits] of clauses.entries()) if (best < 0 || logits[label]! > clauses[best]![label]!) best = at
  return best
}

function neighboursOf(near: readonly NearIntent[]): Neighbour[] {
  const top = near[0]?.likeness || 1
  const weighed = near.map(({ past: { tools, done, failed }, likeness }) => {
    return { tools, weight: (likeness / top) ** likenessPower * ((done + 0.5) / (done + failed + 1)) }
  })
  const total = weighed.reduce((sum, { weight }) => sum + weight, 0) || 1
  return weighed.map((one) => ({ ...one, share: one.weight / total }))
}

function voteOf(neighbours: readonly Neighbour[]): Map<string, number> {
  const votes = new Map<string, number>()
  const total = neighbours.reduce((sum, { weight }) => sum + weight, 0) || 1
  for (const { tools, weight } of neighbours)
    for (const tool of tools) votes.set(tool, (votes.get(tool) ?? 0) + weight / total)
  return votes
}

/** Which words the names of the needed tools have: that carries over to tools never used before. */
function nameEvidence(stems: readonly string[], logits: Float32Array, labels: ReadonlyMap<string, number>) {
  const known = stems.map((stem) => logits[labels.get(stem) ?? -1])
  const mean = known.reduce<number>((sum, logit) => sum + (logit ?? unusedWord), 0) / Math.max(1, stems.length)
  return { mean, least: Math.min(...known.map((logit) => logit ?? unusedTool), 9) }
}

/** The place of each tool, the best first. */
function placesOf(scores: ReadonlyMap<string, number>): Map<string, number> {
  const sorted = [...scores].sort(([left, a], [right, b]) => b - a || (left < right ? -1 : 1))
  return new Map(sorted.map(([tool], at) => [tool, at]))
}

const firstOf = (places: ReadonlyMap<string, number>, count: number) => [...places.keys()].slice(0, count)

function candidatesOf(places: readonly ReadonlyMap<string, number>[]): Set<string> {
  const counts = [byWeightsMax, byWordsMax, byVoteMax, byNameMax]
  return new Set(places.flatMap((place, at) => firstOf(place, counts[at]!)))
}
