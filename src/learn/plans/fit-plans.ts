/**
 * Fits the planner on past plans, and holds what it would have said of each of them, unseen,
 * against what is said without it. A pure function of the request, so that the same record gives
 * the same planner.
 */
import { buildIndex, search } from '#catalog'
import { foresee, historyVotes, openPastIntents, type PastIntent } from '#learn/intents'
import { type Blend, fitLogistic, predictLogistic } from '#learn/models'
import { isCapability, type JsonObject, limits, splitToolId, type Tool } from '#model'
import { choosePlan, fitChoice } from './choose-plan.ts'
import { fitJoin, rankTools, surenessOf } from './choose-tools.ts'
import { comparePlans } from './compare-plans.ts'
import { type Evidence, openWitness, type WordScores } from './evidence.ts'
import { gatherExperience, type PastPlan } from './experience.ts'
import { openPairs, type PairReader } from './pair-features.ts'
import type { PlannerState } from './planner.ts'

type Run = { intent: string | null; subject: string | null; status: string; tools: readonly string[] }
/** As a tool was pinned: what discover knows it by. */
type PinnedTool = { id: string; description: string; input: JsonObject }

/** `count` is the number of runs at which it is fitted. */
export type PlannerRequest = { count: number; runs: readonly Run[]; tools: readonly PinnedTool[] }

const surenessL2 = 5
const fewPlans = 300
const [foldsOfFew, foldsOfMany] = [10, 5]
const [partsOfFew, partsOfMany] = [5, 2]

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
  const ranked = crossed(unseen, joinOf, (join, one) => ({
    ...one,
    tools: one.plan.tools,
    ranked: rankTools(join, one.evidence),
  }))
  const choices = crossed(ranked, fitChoice, (choice, one) => {
    const chosen = choosePlan(choice, one)
    const features = surenessOf(chosen, one.ranked, one.evidence)
    return { ...one, chosen, features, isRight: isSame(chosen, one.tools) }
  })
  const sureness = fitLogistic(
    choices.map(({ features }) => features),
    choices.map(({ isRight }) => Number(isRight)),
    surenessL2,
  )
  const most = (plans.length + 1) / (plans.length + 2)
  const figures = comparePlans(choices)
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
    model: { experience: gatherExperience(plans), join: joinOf(unseen), choice: fitChoice(ranked), sureness, most },
  }
}

/** Each case by what the others teach, so that nothing is as sure as on what it was fitted on. */
function crossed<Case, Model, Answer>(
  cases: readonly Case[],
  fit: (others: readonly Case[]) => Model,
  ask: (model: Model, one: Case) => Answer,
): Answer[] {
  const parts = cases.length < fewPlans ? partsOfFew : partsOfMany
  const models = Array.from({ length: parts }, (_, part) => fit(cases.filter((_, at) => at % parts !== part)))
  return cases.map((one, at) => ask(models[at % parts]!, one))
}

function joinOf(unseen: readonly Unseen[]): Blend {
  const rows = unseen.flatMap(({ plan, evidence }) =>
    [...evidence.candidates].map(([tool, features]) => ({ features, label: Number(plan.tools.includes(tool)) })),
  )
  return fitJoin(
    rows.map(({ features }) => features),
    rows.map(({ label }) => label),
  )
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
