/**
 * Robertson's formula as it stands in the textbooks (k1 = 1.2, b = 0.75), plain or over stems: what
 * others' searches do.
 */
import type { Item } from './sets.ts'

type Rank = (intent: string) => string[]

const small = new Set(
  `a about an and are as at be by can could do does for from had has have how i if in into is it its like me my need of on or our
  please should so some that the their them there these they this to up us want was we were what when where which who why will
  with would you your`.split(/\s+/),
)

/**
 * Over name and description; `stem` adds parameters, takes names apart, and leaves small words out.
 */
export function bm25(corpus: readonly Item[], stem: ((word: string) => string) | null): Rank {
  const wordsOf = (text: string) => {
    const apart = stem === null ? text : text.replace(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll('_', ' ')
    const words: string[] = apart.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
    return stem === null ? words : words.filter((word) => !small.has(word)).map(stem)
  }
  const texts = corpus.map(({ name, desc = '', params = '' }) =>
    wordsOf(`${name} ${desc} ${stem === null ? '' : params}`),
  )
  const mean = texts.reduce((sum, text) => sum + text.length, 0) / texts.length
  const postings = new Map<string, Map<number, number>>()
  for (const [at, text] of texts.entries()) {
    for (const word of text) {
      const places = postings.get(word) ?? new Map<number, number>()
      postings.set(word, places.set(at, (places.get(at) ?? 0) + 1))
    }
  }
  return (intent) => {
    const scores = new Map<number, number>()
    for (const word of new Set(wordsOf(intent))) {
      const places = postings.get(word) ?? new Map<number, number>()
      const rarity = Math.log(1 + (texts.length - places.size + 0.5) / (places.size + 0.5))
      for (const [at, times] of places) {
        const strength = (2.2 * times) / (times + 1.2 * (0.25 + (0.75 * texts[at]!.length) / mean))
        scores.set(at, (scores.get(at) ?? 0) + rarity * strength)
      }
    }
    const best = [...scores].sort(([a, left], [b, right]) => right - left || a - b).slice(0, 10)
    return best.map(([at]) => corpus[at]!.id)
  }
}
