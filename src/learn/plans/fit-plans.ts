/**
 * Fits the planner on past plans, and holds what it would have said of each of them, unseen,
 * against what is said without it. A pure function of the request, so that the same record gives
 * the same planner.
 */
import { buildIndex, search } from '#catalog'
import {
  foresee,
  historyVotes,
  joinParts,
  openPastIntents,
  type PastIntent,
  type Planned,
  plannedPart,
} from '#learn/intents'
import { fitLogistic, predictLogistic } from '#learn/models'
import { isCapability, type JsonObject, limits, splitToolId, type Tool } from '#model'
import { chooseTools, fitJoin, rankTools, surenessOf } from './choose-tools.ts'
import { type Evidence, openWitness, type WordScores } from './evidence.ts'
import { gatherExperience, type PastPlan } from './experience.ts'
import { fitOrder, openPairs, type PairReader } from './order-tools.ts'
import { type PlannerState, plannedOf } from './planner.ts'

type Run = { intent: string | null; subject: string | null; status: string; tools: readonly string[] }
/** As a tool was pinned: what discover knows it by. */
type PinnedTool = { id: string; description: string; input: JsonObject }

/** `count` is the number of runs at which it is fitted. */
export type PlannerRequest = { count: number; runs: readonly Run[]; tools: readonly PinnedTool[] }

const surenessL2 = 5
const [fewPlans, foldsOfFew, foldsOfMany] = [300, 10, 5]

type Unseen = {
  plan: PastPlan
  evidence: Evidence
  pairs: PairReader
  words: WordScores
  history: ReadonlyMap<string, number>
  /** What is said without the planner. */
  usual: readonly string[]
}

export function fitPlans({ count, runs, tools }: PlannerRequest): PlannerState {
  const past = openPastIntents(runs.map(withoutCapabilities)).all().slice(-limits.planCasesMax)
  const plans = past.filter(({ done }) => done > 0)
  const unseen = foreseeAll(past, plans, wordsOf(tools))
  const rows = unseen.flatMap(({ plan, evidence }) =>
    [...evidence.candidates].map(([tool, features]) => ({ features, label: Number(plan.tools.includes(tool)) })),
  )
  const join = fitJoin(
    rows.map(({ features }) => features),
    rows.map(({ label }) => label),
  )
  const order = fitOrder(unseen.map(({ plan, ...rest }) => ({ ...rest, tools: plan.tools })))
  const choices = unseen.map((one) => {
    const ranked = rankTools(join, one.evidence)
    const chosen = chooseTools(ranked, one.evidence)
    const features = surenessOf(chosen, ranked, one.evidence)
    return { ...one, ranked, chosen, features, isRight: isSame(chosen, one.plan.tools) }
  })
  const sureness = fitLogistic(
    choices.map(({ features }) => features),
    choices.map(({ isRight }) => Number(isRight)),
    surenessL2,
  )
  const most = (plans.length + 1) / (plans.length + 2)
  const figures = compare(choices)
  const newest = choices.slice(-limits.learnOutcomesMax)
  return {
    count,
    cases: plans.length,
    ...figures,
    isAdmitted: plans.length >= limits.planCasesMin && figures.lower > 0 && figures.rankGain >= 0,
    outcomes: newest.map(({ features, isRight }) => ({
      confidence: Math.min(most, predictLogistic(sureness, features)),
      isRight,
    })),
    model: { experience: gatherExperience(plans), join, order, sureness, most },
  }
}

const withoutCapabilities = (run: Run) => ({ ...run, tools: run.tools.filter((tool) => !isCapability(tool)) })

const isSame = (left: readonly string[], right: readonly string[]) =>
  new Set(left).symmetricDifference(new Set(right)).size === 0

/** What the search of discover says of tools, for intents that are asked more than once. */
function wordsOf(tools: readonly PinnedTool[]): (intent: string) => WordScores {
  const rest = { annotations: {}, effect: 'unsafe', effectFrom: 'default' } as const
  const all = tools.flatMap(({ id, description, input }): Tool[] => {
    const parts = splitToolId(id)
    return parts === null ? [] : [{ ...rest, id, ...parts, description, input, digest: id }]
  })
  const index = buildIndex(all)
  return (intent) => {
    const { results } = search(index, { intent, filter: { minScore: 0 }, limit: limits.discoverLimitMax })
    return new Map(results.map(({ tool, score }) => [tool.id, score]))
  }
}

/** Every plan by what the others teach, part by part. */
function foreseeAll(
  past: readonly PastIntent[],
  plans: readonly PastIntent[],
  wordsOf: (intent: string) => WordScores,
): Unseen[] {
  const folds = plans.length < fewPlans ? foldsOfFew : foldsOfMany
  const places = new Map(plans.map((plan, at) => [plan, at]))
  const found: Unseen[] = []
  for (let fold = 0; fold < folds; fold++) {
    const isTested = (one: PastIntent) => (places.get(one) ?? -1) % folds === fold
    const others = past.filter((one) => !isTested(one))
    const known = openPastIntents(others.flatMap(runsOf))
    const experience = gatherExperience(others.filter(({ done }) => done > 0))
    const [witness, pairs] = [openWitness(experience), openPairs(experience)]
    for (const plan of plans.filter(isTested)) {
      const near = known.nearest(plan.intent)
      const words = wordsOf(plan.intent)
      const evidence = witness(plan.intent, near, words)
      const { tools } = foresee(plan.intent, near, [])
      found.push({ plan, evidence, pairs, words, history: historyVotes(near), usual: tools })
    }
  }
  return found.sort((a, b) => places.get(a.plan as PastIntent)! - places.get(b.plan as PastIntent)!)
}

/** As often as it was said: once for each end that it came to. */
function runsOf({ intent, subject, tools, done, failed }: PastIntent): Run[] {
  const run = (status: string) => ({ intent, subject, tools, status })
  return [...(done > 0 ? [run('done')] : []), ...(failed > 0 ? [run('failed')] : [])]
}

/** Tools in the order of discover. */
function rankingOf({ words, history }: Pick<Unseen, 'words' | 'history'>, planned: Planned | null): string[] {
  const all = new Set([...words.keys(), ...history.keys(), ...(planned?.shares.keys() ?? [])])
  const scores = new Map(
    [...all].map((tool) => {
      const parts = { words: words.get(tool) ?? 0, history: history.get(tool) ?? 0, context: 0, success: null }
      return [tool, joinParts({ ...parts, ...plannedPart(planned, tool) })]
    }),
  )
  return [...all].sort((a, b) => scores.get(b)! - scores.get(a)!)
}

type Choice = Unseen & { ranked: ReturnType<typeof rankTools>; chosen: string[] }

/** Means over all cases, and how far the gain of the set is above one standard error. */
function compare(choices: readonly Choice[]) {
  const mean = (of: (one: Choice) => number) => choices.reduce((sum, one) => sum + of(one), 0) / (choices.length || 1)
  const gainOf = ({ chosen, usual, plan }: Choice) => f1(chosen, plan.tools) - f1(usual, plan.tools)
  const gain = mean(gainOf)
  const variance = mean((one) => (gainOf(one) - gain) ** 2)
  const rankGain = mean(({ ranked, plan, ...one }) => {
    const ranking = rankingOf(one, plannedOf(ranked, one.evidence))
    return rankScore(ranking, plan.tools) - rankScore(rankingOf(one, null), plan.tools)
  })
  return {
    with: mean(({ chosen, plan }) => f1(chosen, plan.tools)),
    without: mean(({ usual, plan }) => f1(usual, plan.tools)),
    lower: gain - Math.sqrt(variance / Math.max(1, choices.length)),
    rankGain,
  }
}

function f1(found: readonly string[], truth: readonly string[]): number {
  const right = new Set(found).intersection(new Set(truth)).size
  return right === 0 ? 0 : (2 * right) / (new Set(found).size + new Set(truth).size)
}

const rankedMax = 10

/** nDCG of the first ten. */
function rankScore(ranking: readonly string[], truth: readonly string[]): number {
  const discount = (place: number) => 1 / Math.log2(place + 2)
  const got = ranking.slice(0, rankedMax).reduce((sum, tool, at) => sum + (truth.includes(tool) ? discount(at) : 0), 0)
  return got / truth.slice(0, rankedMax).reduce((sum, _, at) => sum + discount(at), 0)
}
