/** What several intents have in common, and where it leaves room for values. */
import { alignWords } from '#learn/text'
import type { ReadIntent } from './read-intent.ts'

/**
 * The words that all have, in order; `gaps[at]`: some have more words before the word `at`. Names
 * and numbers are gaps: where few intents are known, they are the same by chance.
 */
type Skeleton = { words: string[]; gaps: boolean[] }

export function skeletonOf(members: readonly ReadIntent[]): Skeleton {
  const { plain: first, frame, framed } = members[0]!
  let words = framed
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
export function outsideWords(
  aligned: [number, number][],
  gaps: readonly boolean[],
  plain: readonly string[],
): string[] {
  const ends = [...aligned, [gaps.length - 1, plain.length] as [number, number]]
  return ends.flatMap(([at, to], index) => {
    const [lastAt, lastTo] = ends[index - 1] ?? [-1, -1]
    return gaps.slice(lastAt + 1, at + 1).includes(true) ? [] : plain.slice(lastTo + 1, to)
  })
}
