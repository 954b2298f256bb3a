/** The words of an intent as terms of a search, each with what it is worth where it is found. */
import type { Index, Segment } from '#catalog/index'
import { documentFrequency, inverseFrequency, type Term } from './bm25.ts'
import { countWords } from './intent.ts'
import { relatedWords } from './related-words.ts'

/** What each doubling of how often a word is said adds to it. */
const repeatedShare = 0.3
/**
 * What a word is worth that stands in a path or in quotes: it is rather a value than what is to be
 * done.
 */
const valueShare = 0.5

export function queryTerms(index: Index, intent: string): Term[] {
  const shares = new Map<number, number>()
  const { said, values } = countWords(intent)
  for (const [word, count] of said) {
    const share = (values.has(word) ? valueShare : 1) * (1 + repeatedShare * Math.log2(count))
    for (const form of index.vocabulary.find(word)) shares.set(form, Math.max(share, shares.get(form) ?? 0))
  }
  const own = new Set(shares.keys())
  for (const { other, share } of relatedWords(intent)) {
    const form = index.vocabulary.stemForm(other)
    if (form !== undefined && !own.has(form)) shares.set(form, Math.max(share, shares.get(form) ?? 0))
  }
  return [...shares].map(([form, share]) => ({ form, worth: share * termWeight(index, form) }))
}

export function termWeight({ vocabulary, segments, tools }: Index, form: number): number {
  const occurrences = segments.reduce((sum: number, segment: Segment) => sum + documentFrequency(segment, form), 0)
  return inverseFrequency(occurrences, tools) * vocabulary.weights[form]!
}
