/** How much better past intents are foreseen with the planner than without it. */
import { joinParts, type Planned, plannedPart } from '#learn/intents'
import { type Ranked, shareRight } from './choose-tools.ts'
import type { Evidence, WordScores } from './evidence.ts'
import { plannedOf } from './planner.ts'

/** What is known of an intent without the planner. */
type Unplanned = { words: WordScores; history: ReadonlyMap<string, number> }

type Choice = Unplanned & {
  /** What was used. */
  tools: readonly string[]
  /** What is foreseen without the planner, and with it. */
  usual: readonly string[]
  chosen: readonly string[]
  ranked: readonly Ranked[]
  evidence: Evidence
}

/** Means over all cases, and how far the gain of the set is above one standard error. */
export function comparePlans(choices: readonly Choice[]) {
  const mean = (of: (one: Choice) => number) => choices.reduce((sum, one) => sum + of(one), 0) / (choices.length || 1)
  const gainOf = ({ chosen, usual, tools }: Choice) => f1(chosen, tools) - f1(usual, tools)
  const gain = mean(gainOf)
  const variance = mean((one) => (gainOf(one) - gain) ** 2)
  const rankGain = mean(({ ranked, tools, ...one }) => {
    const ranking = rankingOf(one, plannedOf(ranked, one.evidence))
    return rankScore(ranking, tools) - rankScore(rankingOf(one, null), tools)
  })
  return {
    with: mean(({ chosen, tools }) => f1(chosen, tools)),
    without: mean(({ usual, tools }) => f1(usual, tools)),
    lower: gain - Math.sqrt(variance / Math.max(1, choices.length)),
    rankGain,
  }
}

/** Tools in the order of discover. */
function rankingOf({ words, history }: Unplanned, planned: Planned | null): string[] {
  const all = new Set([...words.keys(), ...history.keys(), ...(planned?.shares.keys() ?? [])])
  const scores = new Map(
    [...all].map((tool) => {
      const parts = { words: words.get(tool) ?? 0, history: history.get(tool) ?? 0, context: 0, success: null }
      return [tool, joinParts({ ...parts, ...plannedPart(planned, tool) })]
    }),
  )
  return [...all].sort((a, b) => scores.get(b)! - scores.get(a)!)
}

const f1 = (found: readonly string[], truth: readonly string[]) => shareRight(new Set(found), new Set(truth))

const rankedMax = 10

/** nDCG of the first ten. */
function rankScore(ranking: readonly string[], truth: readonly string[]): number {
  const discount = (place: number) => 1 / Math.log2(place + 2)
  const got = ranking.slice(0, rankedMax).reduce((sum, tool, at) => sum + (truth.includes(tool) ? discount(at) : 0), 0)
  return got / truth.slice(0, rankedMax).reduce((sum, _, at) => sum + discount(at), 0)
}
