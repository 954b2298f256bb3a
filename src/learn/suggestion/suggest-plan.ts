/**
 * Suggests the tools for an intent and their order from past plans, with the probability that
 * exactly these will be used.
 */
import { fitLogistic, fitTrees, predictLogistic, predictTrees } from '#learn/models'
import { orderModel } from './order-tools.ts'
import { type Evidence, gatherExperience, type KnownTool, type Neighbour, type PastPlan } from './past-plans.ts'

type Ranked = { tool: number; share: number }
export type SuggestedPlan = { tools: number[]; links: [number, number][]; confidence: number }
type Planner = { rank(intent: string): Ranked[]; suggest(intent: string): SuggestedPlan }

const joinOptions = { trees: 100, depth: 3, rate: 0.1, leafWeightMin: 3, l2: 3 }
const joinL2 = 3
const surenessL2 = 5
const supportBonus = 0.5

/** Everything is fitted on plans that the evidence for them had not seen, part by part. */
export function learnPlans(tools: readonly KnownTool[], plans: readonly PastPlan[]): Planner {
  const folds = plans.length < 300 ? 10 : 5
  const unseen = Array.from({ length: folds }, (_, fold) => {
    const { about, linear } = gatherExperience(
      tools,
      plans.filter((_, at) => at % folds !== fold),
    )
    return plans.flatMap((plan, at) => (at % folds === fold ? [{ plan, evidence: about(plan.intent), linear }] : []))
  }).flat()
  const rows = unseen.flatMap(({ plan, evidence }) =>
    [...evidence.candidates].map(([tool, features]) => ({ features, label: Number(plan.tools.includes(tool)) })),
  )
  const join = fitJoin(
    rows.map(({ features }) => features),
    rows.map(({ label }) => label),
  )
  const order = orderModel(plans, unseen)
  const choices = unseen.map(({ plan, evidence }) => {
    const ranked = rankBy(join, evidence)
    const chosen = chooseTools(ranked, evidence.neighbours)
    return { features: surenessOf(chosen, ranked, evidence), label: Number(isSame(chosen, plan.tools)) }
  })
  const sure = fitLogistic(
    choices.map(({ features }) => features),
    choices.map(({ label }) => label),
    surenessL2,
  )
  // With few cases, even if all came true, more is not known.
  const most = (plans.length + 1) / (plans.length + 2)
  const now = gatherExperience(tools, plans)
  return {
    rank: (intent) => rankBy(join, now.about(intent)),
    suggest(intent) {
      const evidence = now.about(intent)
      const ranked = rankBy(join, evidence)
      const chosen = chooseTools(ranked, evidence.neighbours)
      const ordered = order(chosen, intent, evidence.neighbours, now.linear)
      const links = ordered.slice(1).map((tool, at): [number, number] => [ordered[at]!, tool])
      return {
        tools: ordered,
        links,
        confidence: Math.min(most, predictLogistic(sure, surenessOf(chosen, ranked, evidence))),
      }
    },
  }
}

const isSame = (left: readonly number[], right: readonly number[]) =>
  new Set(left).symmetricDifference(new Set(right)).size === 0

/** Whether a tool is meant, by its features. */
type Join = (features: readonly number[]) => number

/** Trees see what belongs together, a linear model carries further with few plans: the mean. */
function fitJoin(rows: readonly number[][], labels: readonly number[]): Join {
  const trees = fitTrees(rows, labels, joinOptions)
  const linear = fitLogistic(rows.map(curved), labels, joinL2)
  const logit = (share: number) => Math.log((share + 1e-6) / (1 - share + 1e-6))
  return (features) => {
    const mean = (logit(predictTrees(trees, features)) + logit(predictLogistic(linear, curved(features)))) / 2
    return 1 / (1 + Math.exp(-mean))
  }
}

/** With the logarithms of what is never negative: votes, words, ranks. */
const curved = (features: readonly number[]) => [
  ...features,
  ...[2, 3, 4, 5, 9, 10, 11, 12, 13].map((at) => Math.log(0.02 + features[at]!)),
]

function rankBy(join: Join, { candidates }: Evidence): Ranked[] {
  const ranked = [...candidates].map(([tool, features]) => ({ tool, share: join(features) }))
  return ranked.sort((a, b) => b.share - a.share || a.tool - b.tool)
}

/** The set with the best expected F1, of near plans, changes of these, and what ranks first. */
function chooseTools(ranked: Ranked[], neighbours: readonly Neighbour[]): number[] {
  const shares = new Map(ranked.map(({ tool, share }) => [tool, share]))
  const all = ranked.reduce((sum, { share }) => sum + share, 0)
  const keyOf = (tools: Iterable<number>) => [...new Set(tools)].sort((a, b) => a - b).join()
  const support = new Map<string, number>()
  const total = neighbours.reduce((sum, { weight }) => sum + weight, 0) || 1
  for (const { plan, weight } of neighbours) {
    const key = keyOf(plan.tools)
    support.set(key, (support.get(key) ?? 0) + weight / total)
  }
  const top = ranked.slice(0, 6).map(({ tool }) => tool)
  const sets = new Set(support.keys())
  for (let count = 1; count <= top.length; count++) sets.add(keyOf(top.slice(0, count)))
  for (const [at, first] of top.entries()) for (const second of top.slice(at + 1)) sets.add(keyOf([first, second]))
  for (const { plan } of neighbours.slice(0, 8)) {
    for (const tool of top.slice(0, 4)) sets.add(keyOf([...plan.tools, tool]))
    for (const tool of plan.tools)
      if (plan.tools.length > 1) sets.add(keyOf(plan.tools.filter((other) => other !== tool)))
  }
  let best = { key: keyOf(top.slice(0, 1)), score: -1 }
  for (const key of sets) {
    const tools = key.split(',').map(Number)
    const hits = tools.reduce((sum, tool) => sum + (shares.get(tool) ?? 0), 0)
    const score = (2 * hits) / (tools.length + all) + supportBonus * (support.get(key) ?? 0)
    if (score > best.score) best = { key, score }
  }
  return best.key === '' ? [] : best.key.split(',').map(Number)
}

/** What tells whether a chosen set is exactly right. */
function surenessOf(chosen: number[], ranked: Ranked[], { neighbours, nearest }: Evidence): number[] {
  const inside = ranked.filter(({ tool }) => chosen.includes(tool)).map(({ share }) => share)
  const outside = ranked.filter(({ tool }) => !chosen.includes(tool)).map(({ share }) => share)
  const logOf = (share: number) => Math.log(Math.max(1e-4, share))
  const inLog = inside.reduce((sum, share) => sum + logOf(share), 0)
  const outLog = outside.reduce((sum, share) => sum + logOf(1 - share), 0)
  const total = neighbours.reduce((sum, { weight }) => sum + weight, 0) || 1
  const support =
    neighbours.reduce((sum, { plan, weight }) => sum + (isSame(plan.tools, chosen) ? weight : 0), 0) / total
  return [
    inLog + outLog,
    inLog,
    outLog,
    Math.min(1, ...inside),
    Math.max(0, ...outside),
    support,
    nearest,
    chosen.length,
  ]
}
