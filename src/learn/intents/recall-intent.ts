/**
 * Whether a new intent asks for something that was asked before with other values. Intents are
 * compared by their common skeleton: function words carry the template, so all words count.
 */

import { type Logistic, predictLogistic } from '#learn/models'
import { alignWords } from '#learn/text'
import { type Weights, weightsOf } from './intent-weights.ts'
import { once } from './once.ts'
import { countShared, jaccard, pairFeatures } from './pair-features.ts'
import type { ReadIntent } from './read-intent.ts'
import { recallModel } from './recall-model.ts'
import { outsideWords, skeletonOf } from './skeleton.ts'

/** The intents that one capability has served, oldest first: where they change, it is another. */
export type Habit = { id: string; intents: readonly ReadIntent[] }
type Recalled = { id: string; confidence: number }

const comparedHabits = 6
const comparedIntents = 6

/** Habits from the likeliest down, with the probability that the intent belongs to each. */
export function recallIntent(intent: ReadIntent, habits: readonly Habit[], model: Logistic = recallModel): Recalled[] {
  const opposed = new Set(habits.filter((habit) => isOpposed(intent, habit)).map(({ id }) => id))
  return habitFeatures(intent, habits)
    .map(({ id, features }) => {
      const share = predictLogistic(model, features)
      return { id, confidence: opposed.has(id) ? share * opposedFactor : share }
    })
    .sort((a, b) => b.confidence - a.confidence)
}

/** It says not to do what the habit does: the other words may all be the same. */
function isOpposed({ isRefusal }: ReadIntent, { intents }: Habit): boolean {
  return isRefusal && !intents.some((member) => member.isRefusal)
}

const opposedFactor = 0.5

/** The features of those habits that share most words with the intent. */
export function habitFeatures(intent: ReadIntent, habits: readonly Habit[]): { id: string; features: number[] }[] {
  const weights = weightsOf(habits)
  const quick = ({ intents }: Habit) => Math.max(...intents.map((other) => wordsShared(intent, other)))
  const near = habits
    .map((habit) => ({ habit, score: quick(habit) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, comparedHabits)
  const rows = near.map(({ habit }) => ({ id: habit.id, features: featuresOf(intent, habit.intents, weights) }))
  // How a habit stands against the best other one tells as much as its own likeness.
  return rows.map(({ id, features }, at) => {
    const rivals = rows.filter((_, other) => other !== at)
    const margin = (score: (features: number[]) => number) =>
      score(features) - Math.max(0, ...rivals.map((row) => score(row.features)))
    const [words, weight, , prefix] = features as [number, number, number, number]
    const products = [words * weight, weight ** 2, words ** 2, prefix * words]
    const margins = [margin(([a, b]) => a! + b!), margin((row) => row[frameShare]!), margin((row) => row[isWhole]!)]
    return { id, features: [...features, ...products, ...margins] }
  })
}

const frameShare = 18
/** The skeleton is all there, and nothing stands outside of its gaps. */
const isWhole = 30

function wordsShared(left: ReadIntent, right: ReadIntent): number {
  return jaccard(left.stems, right.stems) + countShared(left.known, right.known) / Math.max(1, left.words.length)
}

const skeletonOfHabit = once((members: readonly ReadIntent[]) => skeletonOf(members.slice(0, comparedIntents)))

function featuresOf(intent: ReadIntent, members: readonly ReadIntent[], weights: Weights): number[] {
  const pairs = members.slice(-comparedIntents).map((member) => pairFeatures(intent, member, weights))
  const best = pairs.reduce((top, pair) => (pair[0]! + pair[1]! > top[0]! + top[1]! ? pair : top))
  const { words: skeleton, gaps } = skeletonOfHabit(members)
  const isSeveral = members.length > 1
  const aligned = alignWords(skeleton, intent.plain)
  const held = aligned.map(([at]) => skeleton[at]!)
  const fixed = isSeveral && skeleton.length > 0 ? weights.sum(held) / weights.sum(skeleton) : 0
  const missing = isSeveral ? Math.max(0, ...skeleton.filter((word) => !held.includes(word)).map(weights.of)) : 0
  const added = outsideWords(aligned, gaps, intent.plain)
  const outside = isSeveral ? added.map(weights.of) : []
  const share = isSeveral ? skeleton.length / members[0]!.plain.length : 0
  const single = Number(!isSeveral)
  return [
    ...best,
    fixed,
    fixed ** 2,
    fixed * share,
    missing,
    Math.min(3, outside.length),
    Math.max(0, ...outside),
    single,
    single * best[0]!,
    single * best[1]!,
    Number(held.length === skeleton.length && added.length === 0),
  ]
}
