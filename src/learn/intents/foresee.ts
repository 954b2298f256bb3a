/**
 * Which tools an intent will need, from what was done before: the habit that it recalls, else the
 * set of tools that near intents speak for; with the probability that it is exactly these, which is
 * fitted on this home's own past, each run being foreseen from the others.
 */

import { calibrationError, fitLogistic, type Logistic, predictLogistic, reliabilityOf } from '#learn/models'
import { limits } from '#model'
import { clipped, type NearIntent, type PastIntent, type PastIntents } from './past-intents.ts'
import { type ReadIntent, readIntent } from './read-intent.ts'
import { type Habit, recallIntent } from './recall-intent.ts'

/** A habit and the tools that it uses. */
export type ToolHabit = Habit & { tools: readonly string[] }

export type Foreseen = {
  tools: readonly string[]
  habit: string | null
  near: NearIntent[]
  /** What tells whether the set is exactly right. */
  features: number[]
}

const recallMin = 0.5
const rewordedMin = 0.2
const l2 = 2
const likenessPower = 5
/** How much a set gains that near intents used just so: sets recur more than their parts do. */
const supportBonus = 0.3

/** `planned` are the tools that a better model foresees where no habit is recalled. */
export function foresee(
  intent: string,
  near: NearIntent[],
  habits: readonly ToolHabit[],
  planned?: readonly string[],
): Foreseen {
  const [first, second] = habits.length === 0 ? [] : recallIntent(readIntent(clipped(intent)), habits)
  const recalled = first !== undefined && first.confidence >= recallMin ? first : undefined
  const sure = habits.find(({ id }) => id === recalled?.id)
  const tools = sure?.tools ?? planned ?? likeliestSet(near)
  // In other words: near intents name the tools of a habit that its own words do not reach.
  const isReworded = ({ id, tools: own }: ToolHabit) => id === first?.id && isSameSet(own, tools)
  const habit = sure ?? ((first?.confidence ?? 0) >= rewordedMin ? habits.find(isReworded) : undefined)
  const support = supportOf(near).get(keyOfSet(tools)) ?? 0
  const [most, next] = [first?.confidence ?? 0, second?.confidence ?? 0]
  const features = [support, near[0]?.likeness ?? 0, most, most - next, Number(recalled !== undefined)]
  return { tools, habit: habit?.id ?? null, near, features }
}

/** Of the sets that near intents used, and what most of them used, the best by expected F1. */
function likeliestSet(near: readonly NearIntent[]): readonly string[] {
  const [support, weights] = [supportOf(near), weightsOf(near)]
  const shares = new Map<string, number>()
  for (const [at, { past }] of near.entries()) {
    for (const tool of past.tools) shares.set(tool, (shares.get(tool) ?? 0) + weights[at]!)
  }
  const all = [...shares.values()].reduce((sum, share) => sum + share, 0)
  const ranked = [...shares.keys()].sort((a, b) => shares.get(b)! - shares.get(a)!)
  const sets = [...near.map(({ past }) => past.tools), ...[1, 2, 3].map((count) => ranked.slice(0, count))]
  let best: { tools: readonly string[]; score: number } = { tools: [], score: 0 }
  for (const tools of sets) {
    const hits = tools.reduce((sum, tool) => sum + (shares.get(tool) ?? 0), 0)
    const score = (2 * hits) / (tools.length + all) + supportBonus * (support.get(keyOfSet(tools)) ?? 0)
    if (score > best.score) best = { tools, score }
  }
  return best.tools
}

const keyOfSet = (tools: readonly string[]) => [...new Set(tools)].sort().join('\0')

/** How much each near intent counts for its likeness and its success, of one in all. */
function weightsOf(near: readonly NearIntent[]): number[] {
  const weights = near.map(
    ({ past, likeness }) => likeness ** likenessPower * ((past.done + 0.5) / (past.done + past.failed + 1)),
  )
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1
  return weights.map((weight) => weight / total)
}

/** The weight of the near intents that used exactly a set, by set. */
function supportOf(near: readonly NearIntent[]): Map<string, number> {
  const weights = weightsOf(near)
  const support = new Map<string, number>()
  for (const [at, { past }] of near.entries()) {
    const key = keyOfSet(past.tools)
    support.set(key, (support.get(key) ?? 0) + weights[at]!)
  }
  return support
}

function isSameSet(left: readonly string[], right: readonly string[]): boolean {
  return new Set(left).symmetricDifference(new Set(right)).size === 0
}

export type Outcome = { features: number[]; isRight: boolean }
export type Confidence = {
  of(foreseen: Foreseen): number
  share(features: number[]): number
  outcomes: { confidence: number; isRight: boolean }[]
}

/**
 * The newest past intents, each foreseen without itself. An intent unlike all others is part of
 * what a home sees: where a set of tools recurs, the first who used it is also foreseen without
 * the others, as it came.
 */
export function* outcomesOf(past: PastIntents, habits: readonly ToolHabit[]): Generator<Outcome> {
  const newest = past.all().slice(-limits.learnOutcomesMax)
  const before = past.all().slice(0, -limits.learnOutcomesMax)
  const sets = new Set(before.map(({ tools }) => keyOfSet(tools)))
  const uses = new Map<string, number>()
  for (const { tools, done, failed } of past.all()) {
    uses.set(keyOfSet(tools), (uses.get(keyOfSet(tools)) ?? 0) + done + failed)
  }
  for (const own of newest) {
    const intent = own.stems.join(' ')
    const without = (other: PastIntent) => other !== own || own.done + own.failed > 1
    yield outcome(foresee(intent, past.nearest(intent, without), withoutIntent(habits, own)), own)
    const key = keyOfSet(own.tools)
    if (sets.has(key) || uses.get(key) === 1) continue
    sets.add(key)
    const others = habits.filter(({ tools }) => !isSameSet(tools, own.tools))
    const unlike = past.nearest(intent, (other) => !isSameSet(other.tools, own.tools))
    yield outcome(foresee(intent, unlike, others), own)
  }
}

const outcome = (foreseen: Foreseen, own: PastIntent): Outcome => ({
  features: foreseen.features,
  isRight: isSameSet(foreseen.tools, own.tools),
})

const withoutIntent = (habits: readonly ToolHabit[], own: PastIntent) => {
  const isOwn = ({ stems }: ReadIntent) => stems.symmetricDifference(new Set(own.stems)).size === 0
  return habits.flatMap((habit) => {
    const intents = habit.intents.filter((intent) => !isOwn(intent))
    if (intents.length === habit.intents.length) return [habit]
    return intents.length === 0 ? [] : [{ ...habit, intents }]
  })
}

export type Calibration = {
  cases: number
  /** Expected calibration error; null where nothing was foreseen. */
  ece: number | null
  curve: { confidence: number; accuracy: number; count: number }[]
}

const parts = 5

/**
 * Each outcome by a fit that has not seen it, unless `planned` says how those came true that a
 * planner foresaw unseen; in ten bins of equal count.
 */
export function calibrationOf(
  outcomes: readonly Outcome[],
  planned: readonly { confidence: number; isRight: boolean }[] = [],
): Calibration {
  const tested = Array.from({ length: parts }, (_, part) => {
    const isTested = (at: number) => at % parts === part
    const fitted = fitConfidence(outcomes.filter((_, at) => !isTested(at)))
    return outcomes.filter((_, at) => isTested(at)).map((one) => ({ ...one, confidence: fitted.share(one.features) }))
  }).flat()
  const isRecalled = ({ features }: Outcome) => features.at(-1) === 1
  const all = planned.length === 0 ? tested : [...tested.filter(isRecalled), ...planned]
  return { cases: all.length, ece: all.length === 0 ? null : calibrationError(all), curve: reliabilityOf(all) }
}

/** Never above what the number of cases allows: of n, all of them right, (n + 1) / (n + 2). */
export function fitConfidence(outcomes: readonly Outcome[]): Confidence {
  const most = (outcomes.length + 1) / (outcomes.length + 2)
  const model: Logistic = fitLogistic(
    outcomes.map(({ features }) => features),
    outcomes.map(({ isRight }) => Number(isRight)),
    l2,
  )
  const share = (features: number[]) => (outcomes.length === 0 ? 0 : Math.min(most, predictLogistic(model, features)))
  return {
    share,
    of: ({ features, tools }) => (tools.length === 0 ? 0 : share(features)),
    outcomes: outcomes.map(({ features, isRight }) => ({ confidence: share(features), isRight })),
  }
}
