/** Puts the tools of a plan into the order in which they most likely run. */

import { fitTrees, type LinearModel, predictTrees } from '#learn/models'
import { type Evidence, type Neighbour, type PastPlan, termsOf } from './past-plans.ts'

const options = { trees: 60, depth: 3, rate: 0.1, leafWeightMin: 3, l2: 3 }
const permutedMax = 6

type Unseen = { plan: PastPlan; evidence: Evidence; linear: LinearModel }
type Before = (first: number, second: number) => number

/** Which of two tools comes first: by all past plans, by the near ones, by where each is meant. */
export function orderModel(plans: readonly PastPlan[], unseen: readonly Unseen[]) {
  const always = countBefore(plans.map((plan) => ({ plan, weight: 1 })))
  const rows: { features: number[]; label: number }[] = []
  for (const { plan, evidence, linear } of unseen) {
    const features = pairFeatures(plan.intent, plan.tools, always, evidence.neighbours, linear, 1)
    for (const [at, first] of plan.tools.entries()) {
      for (const second of plan.tools.slice(at + 1)) {
        rows.push({ features: features(first, second), label: 1 }, { features: features(second, first), label: 0 })
      }
    }
  }
  const model = fitTrees(
    rows.map(({ features }) => features),
    rows.map(({ label }) => label),
    options,
  )
  return (
    tools: readonly number[],
    intent: string,
    neighbours: readonly Neighbour[],
    linear: LinearModel,
  ): number[] => {
    const features = pairFeatures(intent, tools, always, neighbours, linear, 0)
    const logOdds: Before = (first, second) => {
      const share = predictTrees(model, features(first, second))
      const back = predictTrees(model, features(second, first))
      return Math.log((share + 1e-3) / (1 - share + 1e-3)) - Math.log((back + 1e-3) / (1 - back + 1e-3))
    }
    return bestOrder(tools, logOdds)
  }
}

function countBefore(weighted: readonly Neighbour[]): Before {
  const counts = new Map<string, number>()
  for (const { plan, weight } of weighted) {
    for (const [at, first] of plan.tools.entries()) {
      for (const second of plan.tools.slice(at + 1)) {
        counts.set(`${first} ${second}`, (counts.get(`${first} ${second}`) ?? 0) + weight)
      }
    }
  }
  return (first, second) => counts.get(`${first} ${second}`) ?? 0
}

/** `own` is how often the plan itself was counted among all: its own word is not evidence. */
function pairFeatures(
  intent: string,
  tools: readonly number[],
  always: Before,
  neighbours: readonly Neighbour[],
  linear: LinearModel,
  own: number,
): (first: number, second: number) => number[] {
  const near = countBefore(neighbours)
  const isOwn = (first: number, second: number) => own * Number(tools.indexOf(first) < tools.indexOf(second))
  const places = new Map(tools.map((tool) => [tool, placeOf(intent, tool, linear)]))
  return (first, second) => {
    const forth = always(first, second) - isOwn(first, second)
    const back = always(second, first) - isOwn(second, first)
    const [nearForth, nearBack] = [near(first, second), near(second, first)]
    const place = places.get(second)! - places.get(first)!
    return [
      Math.log((forth + 0.5) / (back + 0.5)),
      forth + back,
      Math.log((nearForth + 0.1) / (nearBack + 0.1)),
      place,
      tools.length,
    ]
  }
}

/** Where in the intent the words stand that speak for a tool: their centre, between 0 and 1. */
function placeOf(intent: string, tool: number, linear: LinearModel): number {
  const terms = termsOf(intent)
  const count = (terms.length + 1) / 2
  let [sum, total] = [0, 1e-6]
  for (const [at, term] of terms.entries()) {
    const weight = Math.max(0, linear.weightOf(term, tool)) ** 2
    const place = at < count ? at : at - count + 0.5
    sum += weight * place
    total += weight
  }
  return sum / total / Math.max(1, count)
}

function bestOrder(tools: readonly number[], logOdds: Before): number[] {
  const wins = (tool: number) => tools.reduce((sum, other) => sum + (other === tool ? 0 : logOdds(tool, other)), 0)
  const greedy = [...tools].sort((a, b) => wins(b) - wins(a))
  if (tools.length > permutedMax) return greedy
  let best = { order: greedy, score: -Infinity }
  const extend = (order: number[], score: number) => {
    if (order.length === tools.length && score > best.score) best = { order, score }
    for (const tool of greedy) {
      if (order.includes(tool)) continue
      extend([...order, tool], score + order.reduce((sum, before) => sum + logOdds(before, tool), 0))
    }
  }
  extend([], 0)
  return best.order
}
