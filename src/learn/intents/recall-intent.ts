/**
 * Whether a new intent asks for something that was asked before with other values. Intents are
 * compared by their common skeleton: function words carry the template, so all words count.
 */

import { type Logistic, predictLogistic } from '#learn/models'
import { alignWords, isValueLike, plainWord, type Specificity, specificityOf, stemsOf, wordsOf } from '#learn/text'
import { recallModel } from './recall-model.ts'

export type ReadIntent = { text: string; words: string[]; plain: string[]; stems: Set<string>; known: Set<string> }

/** The intents that one capability has served, oldest first. */
export type Habit = { id: string; intents: ReadIntent[] }
type Recalled = { id: string; confidence: number }

const comparedHabits = 6
const comparedIntents = 6

export function readIntent(text: string): ReadIntent {
  const words = wordsOf(text)
  const plain = words.map(plainWord)
  return { text, words, plain, stems: new Set(stemsOf(text)), known: new Set(plain) }
}

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
function isOpposed({ words }: ReadIntent, { intents }: Habit): boolean {
  const says = (texts: readonly string[]) => texts.some((word) => refusing.has(word.toLowerCase()))
  return says(words) && !intents.some((member) => says(member.words))
}

const refusing = new Set(['not', 'never', "don't", "doesn't", "didn't", "can't", "won't", 'no', 'without', 'except'])
const opposedFactor = 0.5

/** The features of those habits that share most words with the intent. */
export function habitFeatures(intent: ReadIntent, habits: readonly Habit[]): { id: string; features: number[] }[] {
  const specificity = specificityOf(habits.flatMap(({ intents }) => intents.map(({ plain }) => plain)))
  const quick = ({ intents }: Habit) => Math.max(...intents.map((other) => wordsShared(intent, other)))
  const near = habits
    .map((habit) => ({ habit, score: quick(habit) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, comparedHabits)
  const rows = near.map(({ habit }) => ({ id: habit.id, features: featuresOf(intent, habit.intents, specificity) }))
  // How a habit stands against the best other one tells as much as its own likeness.
  return rows.map(({ id, features }, at) => {
    const others = rows.filter((_, other) => other !== at).map((row) => row.features[0]! + row.features[1]!)
    const [words, weight, , prefix] = features as [number, number, number, number]
    const products = [words * weight, weight ** 2, words ** 2, prefix * words]
    return { id, features: [...features, ...products, words + weight - Math.max(0, ...others)] }
  })
}

function wordsShared(left: ReadIntent, right: ReadIntent): number {
  const jaccard = left.stems.intersection(right.stems).size / Math.max(1, left.stems.union(right.stems).size)
  return jaccard + left.known.intersection(right.known).size / Math.max(1, left.words.length)
}

function featuresOf(intent: ReadIntent, members: readonly ReadIntent[], specificity: Specificity): number[] {
  const pairs = members.slice(-comparedIntents).map((member) => pairFeatures(intent, member, specificity))
  const best = pairs.reduce((top, pair) => (pair[0]! + pair[1]! > top[0]! + top[1]! ? pair : top))
  let skeleton = members[0]!.plain
  for (const { plain } of members.slice(1, comparedIntents)) {
    skeleton = alignWords(skeleton, plain).map(([at]) => skeleton[at]!)
  }
  const isSeveral = members.length > 1
  const weigh = (words: string[]) => words.reduce((sum, word) => sum + specificity(word), 0)
  const held = alignWords(skeleton, intent.plain).map(([at]) => skeleton[at]!)
  const fixed = isSeveral && skeleton.length > 0 ? weigh(held) / weigh(skeleton) : 0
  const missing = isSeveral ? Math.max(0, ...skeleton.filter((word) => !held.includes(word)).map(specificity)) : 0
  const share = isSeveral ? skeleton.length / members[0]!.plain.length : 0
  const single = Number(!isSeveral)
  return [...best, fixed, fixed ** 2, fixed * share, missing, single, single * best[0]!, single * best[1]!]
}

function pairFeatures(intent: ReadIntent, member: ReadIntent, specificity: Specificity): number[] {
  const [left, right] = [intent.plain, member.plain]
  const aligned = alignWords(left, right)
  const weigh = (words: readonly string[]) => words.reduce((sum, word) => sum + specificity(word), 0)
  const common = weigh(aligned.map(([at]) => left[at]!))
  const openLeft = openRuns(
    intent.words,
    aligned.map(([at]) => at),
  )
  const openRight = openRuns(
    member.words,
    aligned.map(([, at]) => at),
  )
  const isEqual = (at: number, to: number) => left.at(at) === right.at(to)
  const shorter = Math.min(left.length, right.length)
  let prefix = 0
  while (prefix < shorter && isEqual(prefix, prefix)) prefix++
  let suffix = 0
  while (suffix < shorter - prefix && isEqual(-1 - suffix, -1 - suffix)) suffix++
  const values = ({ words }: Open) => (words.length === 0 ? 1 : words.filter(isValueLike).length / words.length)
  const strange = ({ words }: Open) =>
    Math.max(0, ...words.filter((word) => !isValueLike(word)).map((word) => specificity(plainWord(word))))
  return [
    (2 * aligned.length) / (left.length + right.length),
    (2 * common) / (weigh(left) + weigh(right)),
    intent.stems.intersection(member.stems).size / Math.max(1, intent.stems.union(member.stems).size),
    prefix / left.length,
    suffix / left.length,
    Math.min(prefix, 5),
    openLeft.runs,
    openRight.runs,
    values(openLeft),
    values(openRight),
    Math.abs(openLeft.words.length - openRight.words.length),
    openLeft.words.length / left.length,
    aligned.length / shorter,
    strange(openLeft),
    strange(openRight),
  ]
}

type Open = { words: string[]; runs: number }

/** The words that are not aligned, and in how many runs they stand. */
function openRuns(words: readonly string[], aligned: number[]): Open {
  const closed = new Set(aligned)
  const open = [...words.keys()].filter((at) => !closed.has(at))
  return { words: open.map((at) => words[at]!), runs: open.filter((at) => at === 0 || closed.has(at - 1)).length }
}
