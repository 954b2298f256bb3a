/** How much words say among the intents of some habits, and whole intents with them. */
import { type Specificity, specificityOf } from '#learn/text'
import { once } from './once.ts'
import type { ReadIntent } from './read-intent.ts'

export type Weights = {
  of: Specificity
  sum(words: readonly string[]): number
  /** The sums of an intent's words, each made once. */
  plain(intent: ReadIntent): number
  framed(intent: ReadIntent): number
}

type Habits = readonly { intents: readonly ReadIntent[] }[]
/** What was counted: habits with other intents are other habits, lists of them may grow. */
type Counted = { habits: Habits; weights: Weights }

const counted = new WeakMap<Habits, Counted>()

/** Counted once for a list of habits, and again where other ones stand in it. */
export function weightsOf(habits: Habits): Weights {
  const found = counted.get(habits)
  if (found?.habits.length === habits.length && habits.every((habit, at) => habit === found.habits[at]))
    return found.weights
  const of = specificityOf(habits.flatMap(({ intents }) => intents.map(({ known }) => known)))
  const sum = (words: readonly string[]) => words.reduce((total, word) => total + of(word), 0)
  const weights = {
    of,
    sum,
    plain: once(({ plain }: ReadIntent) => sum(plain)),
    framed: once(({ framed }: ReadIntent) => sum(framed)),
  }
  counted.set(habits, { habits: [...habits], weights })
  return weights
}
