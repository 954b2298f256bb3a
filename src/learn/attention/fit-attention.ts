/**
 * K-head attention over what tools are used in together (SHGAT). Tools are nodes, the sets that
 * capabilities are made of are hyperedges, and messages pass on two levels, in each head apart:
 *
 *   tool ──α──► set      a set is what its tools say, each as far as it is attended to
 *   set  ──β──► tool     a tool is its own words, and what the sets say that it stands in
 *
 * An intent asks for the tools whose vectors are near its own. Trained on past intents, the tools
 * that they used against sampled others, from a seed: the same past gives the same weights.
 */

import { diceOf } from '#learn/models'
import {
  type AttentionModel,
  forward,
  gradientsOf,
  type Network,
  newNetwork,
  type Weights,
} from './attention-network.ts'

export type AttentionProblem = {
  /** The terms of each tool's own text. */
  tools: readonly (readonly string[])[]
  /** Tools by number that are used together. */
  sets: readonly (readonly number[])[]
  cases: readonly { terms: readonly string[]; tools: readonly number[] }[]
}

type Options = { epochs?: number; rate?: number; seed?: number }

const batchSize = 64
/** Terms that an example goes without, so that no single one decides. */
const dropout = 0.25
const negativesMax = 48
const termCountMin = 2
const termsMax = 5000

export function fitAttention(
  problem: AttentionProblem,
  { epochs = 8, rate = 0.08, seed = 1 }: Options = {},
): AttentionModel {
  const { terms, rarity } = vocabularyOf(problem)
  const numbers = new Map(terms.map((term, at) => [term, at]))
  const bags = (texts: readonly (readonly string[])[]) =>
    texts.map((text) => text.flatMap((term) => numbers.get(term) ?? []))
  const network = newNetwork(rarity, problem, bags(problem.tools), diceOf(seed))
  const asked = bags(problem.cases.map((one) => one.terms))
  const dice = diceOf(seed + 1)
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = shuffled(problem.cases.length, dice)
    for (let start = 0; start < order.length; start += batchSize) {
      const batch = order.slice(start, start + batchSize).map((at) => {
        const { tools } = problem.cases[at]!
        const bag = asked[at]!.filter(() => dice() >= dropout)
        return { bag, tools, others: negatives(tools, problem.tools.length, dice) }
      })
      descend(network, gradientsOf(network, batch).gradients, rate)
    }
  }
  const { embedding, query, bias } = network.weights
  return { terms, rarity, embedding, query, bias, vectors: forward(network).vectors }
}

function vocabularyOf({ tools, cases }: AttentionProblem): { terms: string[]; rarity: Float64Array } {
  const counts = new Map<string, number>()
  for (const terms of [...tools, ...cases.map((one) => one.terms)])
    for (const term of new Set(terms)) counts.set(term, (counts.get(term) ?? 0) + 1)
  const known = [...counts].filter(([, count]) => count >= termCountMin)
  known.sort(([left, a], [right, b]) => b - a || (left < right ? -1 : 1))
  const kept = known.slice(0, termsMax)
  const all = tools.length + cases.length
  return {
    terms: kept.map(([term]) => term),
    rarity: Float64Array.from(kept, ([, count]) => Math.log(1 + all / count)),
  }
}

/** AdaGrad: what moved much moves less. */
function descend({ weights, squares }: Network, gradients: Weights, rate: number): void {
  for (const name of Object.keys(weights) as (keyof Weights)[]) {
    const [values, slopes, sums] = [weights[name], gradients[name], squares[name]]
    for (let at = 0; at < values.length; at++) {
      const slope = slopes[at]!
      if (slope === 0) continue
      sums[at]! += slope * slope
      values[at]! -= (rate * slope) / Math.sqrt(sums[at]!)
    }
  }
}

/** All others where there are few, else as many as are looked at, drawn by chance. */
function negatives(tools: readonly number[], count: number, dice: () => number): number[] {
  const own = new Set(tools)
  if (count <= negativesMax) return [...Array(count).keys()].filter((tool) => !own.has(tool))
  const drawn = new Set<number>()
  for (let draw = 0; draw < negativesMax; draw++) {
    const tool = Math.floor(dice() * count)
    if (!own.has(tool)) drawn.add(tool)
  }
  return [...drawn]
}

function shuffled(count: number, dice: () => number): number[] {
  const order = [...Array(count).keys()]
  for (let at = count - 1; at > 0; at--) {
    const other = Math.floor(dice() * (at + 1))
    ;[order[at], order[other]] = [order[other]!, order[at]!]
  }
  return order
}
