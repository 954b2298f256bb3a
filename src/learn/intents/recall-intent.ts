/**
 * Whether a new intent asks for something that was asked before with other values. Intents are
 * compared by their common skeleton: function words carry the template, so all words count.
 */

import { type Logistic, predictLogistic } from '#learn/models'
import { alignWords, isValueLike, plainWord, type Specificity, specificityOf, stemsOf, wordsOf } from '#learn/text'
import { recallModel } from './recall-model.ts'

/**
 * `words` are all, `outline` those with each quotation as one, `plain` the outline without case,
 * `frame` the places of the outline that do not look like values.
 */
export type ReadIntent = {
  text: string
  words: string[]
  outline: string[]
  plain: string[]
  frame: number[]
  stems: Set<string>
  known: Set<string>
}

/** The intents that one capability has served, oldest first. */
export type Habit = { id: string; intents: ReadIntent[] }
type Recalled = { id: string; confidence: number }

const comparedHabits = 6
const comparedIntents = 6

export function readIntent(text: string): ReadIntent {
  const words = wordsOf(text)
  const outline = withoutQuoted(words)
  const plain = outline.map(plainWord)
  const frame = [...plain.keys()].filter((at) => at === 0 || !(isValueLike(outline[at]!) || outline[at] === quotation))
  return { text, words, outline, plain, frame, stems: new Set(stemsOf(text)), known: new Set(plain) }
}

const quotation = '"…"'

/** What stands in quotes is a value, however many words it has. */
function withoutQuoted(words: readonly string[]): string[] {
  const outline: string[] = []
  for (let at = 0; at < words.length; at++) {
    const end = words[at] === '"' ? words.indexOf('"', at + 1) : -1
    outline.push(end < 0 ? words[at]! : quotation)
    if (end > 0) at = end
  }
  return outline
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
  const jaccard = left.stems.intersection(right.stems).size / Math.max(1, left.stems.union(right.stems).size)
  return jaccard + left.known.intersection(right.known).size / Math.max(1, left.words.length)
}

function featuresOf(intent: ReadIntent, members: readonly ReadIntent[], specificity: Specificity): number[] {
  const pairs = members.slice(-comparedIntents).map((member) => pairFeatures(intent, member, specificity))
  const best = pairs.reduce((top, pair) => (pair[0]! + pair[1]! > top[0]! + top[1]! ? pair : top))
  const { words: skeleton, gaps } = skeletonOf(members.slice(0, comparedIntents))
  const isSeveral = members.length > 1
  const weigh = (words: string[]) => words.reduce((sum, word) => sum + specificity(word), 0)
  const aligned = alignWords(skeleton, intent.plain)
  const held = aligned.map(([at]) => skeleton[at]!)
  const fixed = isSeveral && skeleton.length > 0 ? weigh(held) / weigh(skeleton) : 0
  const missing = isSeveral ? Math.max(0, ...skeleton.filter((word) => !held.includes(word)).map(specificity)) : 0
  const added = outsideWords(aligned, gaps, intent.plain)
  const outside = isSeveral ? added.map(specificity) : []
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

/**
 * The words that all have, in order; `gaps[at]`: some have more words before the word `at`. Names
 * and numbers are gaps: where few intents are known, they are the same by chance.
 */
type Skeleton = { words: string[]; gaps: boolean[] }

function skeletonOf(members: readonly ReadIntent[]): Skeleton {
  const { plain: first, frame } = members[0]!
  let words = frame.map((at) => first[at]!)
  let gaps = [...frame, first.length].map((at, index) => at > (frame[index - 1] ?? -1) + 1)
  for (const { plain } of members.slice(1)) {
    const aligned = [...alignWords(words, plain), [words.length, plain.length] as [number, number]]
    const before = gaps
    gaps = aligned.map(([at, to], index) => {
      const [lastAt, lastTo] = aligned[index - 1] ?? [-1, -1]
      return at > lastAt + 1 || to > lastTo + 1 || before[at]!
    })
    words = aligned.slice(0, -1).map(([at]) => words[at]!)
  }
  return { words, gaps }
}

/** Words of an intent where the skeleton has no gap for a value. */
function outsideWords(aligned: [number, number][], gaps: readonly boolean[], plain: readonly string[]): string[] {
  const ends = [...aligned, [gaps.length - 1, plain.length] as [number, number]]
  return ends.flatMap(([at, to], index) => {
    const [lastAt, lastTo] = ends[index - 1] ?? [-1, -1]
    return gaps.slice(lastAt + 1, at + 1).includes(true) ? [] : plain.slice(lastTo + 1, to)
  })
}

function pairFeatures(intent: ReadIntent, member: ReadIntent, specificity: Specificity): number[] {
  const [left, right] = [intent.plain, member.plain]
  const aligned = alignWords(left, right)
  const weigh = (words: readonly string[]) => words.reduce((sum, word) => sum + specificity(word), 0)
  const common = weigh(aligned.map(([at]) => left[at]!))
  const openLeft = openRuns(
    intent.outline,
    aligned.map(([at]) => at),
  )
  const openRight = openRuns(
    member.outline,
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
  const inserted = insertedWords(intent.outline, member.outline, aligned)
  const frames = frameLikeness(intent, member, weigh)
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
    Math.min(3, inserted.length),
    Math.max(0, ...inserted.map((word) => specificity(plainWord(word)))),
    Math.min(3, inserted.filter((word) => /^\p{Ll}+$/u.test(word)).length),
    ...frames,
  ]
}

/** Words where the other text has nothing: another value replaces, another request adds. */
function insertedWords(left: readonly string[], right: readonly string[], aligned: [number, number][]): string[] {
  const found: string[] = []
  let [leftEnd, rightEnd] = [0, 0]
  for (const [at, to] of [...aligned, [left.length, right.length] as const]) {
    if (at > leftEnd !== to > rightEnd) found.push(...left.slice(leftEnd, at), ...right.slice(rightEnd, to))
    ;[leftEnd, rightEnd] = [at + 1, to + 1]
  }
  return found
}

/** The likeness of what is left without names, numbers and quotations. */
function frameLikeness(intent: ReadIntent, member: ReadIntent, weigh: (words: readonly string[]) => number): number[] {
  const [left, right] = [intent, member].map(({ plain, frame }) => frame.map((at) => plain[at]!)) as [
    string[],
    string[],
  ]
  const common = alignWords(left, right).map(([at]) => left[at]!)
  const share = (2 * weigh(common)) / Math.max(1e-9, weigh(left) + weigh(right))
  return [share, share ** 4, Math.min(8, weigh(left) + weigh(right) - 2 * weigh(common))]
}

type Open = { words: string[]; runs: number }

/** The words that are not aligned, and in how many runs they stand. */
function openRuns(words: readonly string[], aligned: number[]): Open {
  const closed = new Set(aligned)
  const open = [...words.keys()].filter((at) => !closed.has(at))
  return { words: open.map((at) => words[at]!), runs: open.filter((at) => at === 0 || closed.has(at - 1)).length }
}
