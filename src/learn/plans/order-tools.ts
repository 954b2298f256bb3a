/** Puts the tools of a plan into the order in which they most likely run. */
import { fitTrees, predictTrees, type Trees } from '#learn/models'
import type { Evidence, Neighbour } from './evidence.ts'
import { type Experience, nameStemsOf, termsOf } from './experience.ts'

const options = { trees: 60, depth: 3, rate: 0.1, leafWeightMin: 3, l2: 3 }
const permutedMax = 6
const nearestCount = 5

type Features = (first: string, second: string) => number[]
type Before = (first: string, second: string) => number

/** Features of pairs of tools for one intent; opened once for all intents. */
export type PairReader = (tools: readonly string[], evidence: Evidence) => Features

/** Which of two tools comes first, as plans show it that the features had not seen. */
export function fitOrder(plans: readonly { tools: readonly string[]; evidence: Evidence; pairs: PairReader }[]): Trees {
  const rows: number[][] = []
  const labels: number[] = []
  for (const { tools, evidence, pairs } of plans) {
    const features = pairs(tools, evidence)
    for (const [at, first] of tools.entries()) {
      for (const second of tools.slice(at + 1)) {
        rows.push(features(first, second), features(second, first))
        labels.push(1, 0)
      }
    }
  }
  return fitTrees(rows, labels, options)
}

/** By all past plans, by the near ones, by where each is meant, by the words of their names. */
export function openPairs(experience: Experience): PairReader {
  const { linear, tools: known, before } = experience
  const numbers = new Map(known.map((tool, at) => [tool, at]))
  const always: Before = (first, second) => before[`${numbers.get(first)} ${numbers.get(second)}`] ?? 0
  const words = wordsBefore(experience)
  return (tools, { intent, neighbours, clauseOf }) => {
    const terms = termsOf(intent)
    const [near, nearest] = [neighbours, neighbours.slice(0, nearestCount)].map(countBefore)
    const placeIn = (tool: string) => placeOf(terms, numbers.get(tool), linear)
    const places = new Map(tools.map((tool) => [tool, { word: placeIn(tool), clause: clauseOf(tool) }]))
    return (first, second) => {
      const [forth, back] = [always(first, second), always(second, first)]
      const [left, right] = [places.get(first)!, places.get(second)!]
      return [
        Math.log((forth + 0.5) / (back + 0.5)),
        forth + back,
        Math.log((near!(first, second) + 0.1) / (near!(second, first) + 0.1)),
        right.word - left.word,
        tools.length,
        Math.sign(right.clause - left.clause),
        Math.log((nearest!(first, second) + 0.05) / (nearest!(second, first) + 0.05)),
        Math.log((words(first, second) + 0.3) / (words(second, first) + 0.3)),
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

/** How often a word of the first name stood in a name before one of the second: search, book. */
function wordsBefore({ tools, before }: Experience): Before {
  const names = tools.map(nameStemsOf)
  const counts = new Map<string, number>()
  const pairsOf = (left: readonly string[], right: readonly string[]) =>
    left.flatMap((one) => right.flatMap((other) => (one === other ? [] : [`${one} ${other}`])))
  for (const [pair, count] of Object.entries(before)) {
    const [left, right] = pair.split(' ').map((at) => names[Number(at)]!) as [string[], string[]]
    const share = count / Math.max(1, left.length * right.length)
    for (const key of pairsOf(left, right)) counts.set(key, (counts.get(key) ?? 0) + share)
  }
  return (first, second) =>
    pairsOf(nameStemsOf(first), nameStemsOf(second)).reduce((sum, key) => sum + (counts.get(key) ?? 0), 0)
}

/** Where in the intent the words stand that speak for a tool: their centre, between 0 and 1. */
function placeOf(terms: readonly string[], label: number | undefined, linear: Experience['linear']): number {
  if (label === undefined) return 0.5
  const count = (terms.length + 1) / 2
  let [sum, total] = [0, 1e-6]
  for (const [at, term] of terms.entries()) {
    const weight = Math.max(0, linear.weightOf(term, label)) ** 2
    sum += weight * (at < count ? at : at - count + 0.5)
    total += weight
  }
  return sum / total / Math.max(1, count)
}

export function orderTools(model: Trees, tools: readonly string[], features: Features): string[] {
  const logit = (share: number) => Math.log((share + 1e-3) / (1 - share + 1e-3))
  const logOdds = new Map<string, number>()
  for (const first of tools) {
    for (const second of tools) {
      if (first === second) continue
      const [forth, back] = [features(first, second), features(second, first)].map((row) => predictTrees(model, row))
      logOdds.set(`${first}\0${second}`, logit(forth!) - logit(back!))
    }
  }
  return bestOrder(tools, (first, second) => logOdds.get(`${first}\0${second}`) ?? 0)
}

function bestOrder(tools: readonly string[], logOdds: Before): string[] {
  const wins = (tool: string) => tools.reduce((sum, other) => sum + logOdds(tool, other), 0)
  const greedy = [...tools].sort((a, b) => wins(b) - wins(a))
  if (tools.length > permutedMax) return greedy
  let best = { order: greedy, score: -Infinity }
  const extend = (order: string[], score: number) => {
    if (order.length === tools.length && score > best.score) best = { order, score }
    for (const tool of greedy) {
      if (order.includes(tool)) continue
      extend([...order, tool], score + order.reduce((sum, before) => sum + logOdds(before, tool), 0))
    }
  }
  extend([], 0)
  return best.order
}
