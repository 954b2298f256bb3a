/** Text as the stems by which intents and fields are compared, and how much each of them says. */
import { stemOf, tokenize } from '#catalog'

const smallWords = new Set(
  `a an the of to in on for and or is are was were be been with by from at as it its this that these those i me my
  you your we our us can could would should will do does did have has had please need want which who any some all
  also about into than then there their they them`.split(/\s+/),
)

/** Words that every text has: they say nothing of what it is about. */
export const isSmallWord = (word: string) => smallWords.has(word)

/** The stems of a text in their order, small words left out. */
export function stemsOf(text: string): string[] {
  return tokenize(text).flatMap((word) => (smallWords.has(word) ? [] : [stemOf(word)]))
}

/** The rarer a stem, the more it says; one that was never seen says most. */
export type Specificity = (stem: string) => number

/** How specific each stem is among documents of the same kind. */
export function specificityOf(documents: Iterable<Iterable<string>>): Specificity {
  const counts = new Map<string, number>()
  let documentCount = 0
  for (const document of documents) {
    documentCount++
    for (const stem of new Set(document)) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  }
  const weightOf = (count: number) => Math.log(1 + (documentCount + 1) / (1 + count))
  const weights = new Map([...counts].map(([stem, count]) => [stem, weightOf(count)]))
  const unseen = weightOf(0)
  return (stem) => weights.get(stem) ?? unseen
}

type Stems = ReadonlySet<string>

const weigh = (stems: Iterable<string>, specificity: Specificity) => {
  let sum = 0
  for (const stem of stems) sum += specificity(stem)
  return sum
}

/** The weight of what two sets share, as a part of the smaller one. */
export function overlap(left: Stems, right: Stems, specificity: Specificity): number {
  if (left.size === 0 || right.size === 0) return 0
  const smaller = Math.min(weigh(left, specificity), weigh(right, specificity))
  return weigh(left.intersection(right), specificity) / smaller
}

/** The weight of what two sets share, as a part of both. */
export function dice(left: Stems, right: Stems, specificity: Specificity): number {
  if (left.size === 0 || right.size === 0) return 0
  const both = weigh(left, specificity) + weigh(right, specificity)
  return (2 * weigh(left.intersection(right), specificity)) / both
}
