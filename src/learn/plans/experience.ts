/**
 * What past plans teach, as numbers: which words of an intent speak for which tools and for which
 * words of their names, what is used together, and what runs before what.
 */
import { fitLinear, type LinearModel } from '#learn/models'
import { stemsOf } from '#learn/text'
import { limits, splitToolId } from '#model'

/** An intent, and the tools that it needed in the order of their first calls. */
export type PastPlan = { intent: string; tools: readonly string[] }

export type Experience = {
  linear: LinearModel
  /** The labels of `linear`: tools first, then words of their names. */
  tools: readonly string[]
  words: readonly string[]
  /** In how many plans each tool was. */
  frequency: readonly number[]
  /** By tool: in which share of its plans another one was, by number. */
  together: readonly (readonly (readonly [other: number, share: number])[])[]
  /** In how many plans a tool ran before another one: `3 7`. */
  before: Readonly<Record<string, number>>
}

/** So few plans are read more often, and every word of them counts. */
const fewPlans = 300
const [epochsOfFew, epochsOfMany] = [30, 12]

/** The stems of a text, and pairs of neighbouring ones. */
export function termsOf(text: string): string[] {
  const stems = stemsOf(text).slice(0, limits.planStemsMax)
  return [...stems, ...stems.slice(1).map((stem, at) => `${stems[at]} ${stem}`)]
}

export const nameStemsOf = (tool: string) => [...new Set(stemsOf(splitToolId(tool)?.name ?? tool))]

export function gatherExperience(plans: readonly PastPlan[]): Experience {
  const tools = [...new Set(plans.flatMap((plan) => plan.tools))]
  const numbers = new Map(tools.map((tool, at) => [tool, at]))
  const stems = tools.map(nameStemsOf)
  const words = [...new Set(stems.flat())]
  const wordLabels = new Map(words.map((word, at) => [word, tools.length + at]))
  const used = plans.map((plan) => plan.tools.map((tool) => numbers.get(tool)!))
  const labels = used.map((plan) => [
    ...new Set(plan.flatMap((tool) => [tool, ...stems[tool]!.map((stem) => wordLabels.get(stem)!)])),
  ])
  const isFew = plans.length < fewPlans
  const linear = fitLinear(
    plans.map(({ intent }) => termsOf(intent)),
    labels,
    tools.length + words.length,
    { epochs: isFew ? epochsOfFew : epochsOfMany, countMin: isFew ? 1 : 2, weightsMax: limits.planWeightsMax },
  )
  return { linear, tools, words, ...countPairs(tools.length, used) }
}

function countPairs(toolCount: number, plans: readonly (readonly number[])[]) {
  const frequency = new Array<number>(toolCount).fill(0)
  const beside = Array.from({ length: toolCount }, () => new Map<number, number>())
  const before: Record<string, number> = {}
  for (const plan of plans) {
    for (const [at, tool] of plan.entries()) {
      frequency[tool]! += 1
      for (const other of plan) if (other !== tool) beside[tool]!.set(other, (beside[tool]!.get(other) ?? 0) + 1)
      for (const later of plan.slice(at + 1)) before[`${tool} ${later}`] = (before[`${tool} ${later}`] ?? 0) + 1
    }
  }
  const together = beside.map((row, tool) =>
    [...row].map(([other, count]) => [other, count / (frequency[tool]! + 2)] as const),
  )
  return { frequency, together, before }
}
