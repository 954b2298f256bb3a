/**
 * How much of an intent the best candidates are about: the share of its words that a tool has, each
 * word by its weight in general use. In a foreign catalogue some tool may have one rare word of an
 * intent; the other words then stay uncovered.
 */
import { contentWords, searchFields, stemOf, synonymGroup, wordWeight } from '#catalog/index'
import type { Tool } from '#model'
import { relatedWords } from './related-words.ts'

/** `share` of the intent from 0 to 1, and the same as a sum of weights. */
export type Coverage = { share: number; mass: number }

/** What a synonym and a related word count beside the word itself. */
const synonymShare = 0.4
const relatedShare = 0.3

/** The coverage of the tool that covers most; `words` are those that say what is to be done. */
export function coverageOf(tools: readonly Tool[], intent: string, words: readonly string[]): Coverage {
  const related = Map.groupBy(relatedWords(intent), ({ word }) => word)
  const wanted = words.map((word) => {
    const stem = stemOf(word)
    const others = (related.get(word) ?? []).map(({ other }) => stemOf(other))
    return { stem, weight: wordWeight(stem) ** 2, others }
  })
  const total = wanted.reduce((sum, { weight }) => sum + weight, 0)
  const masses = tools.map((tool) => {
    const { stems, groups } = wordsOf(tool)
    return wanted.reduce((sum, { stem, weight, others }) => {
      const field = stems.get(stem)
      if (field !== undefined) return sum + weight * Math.min(1, (1 + field) / 2)
      if (groups.has(synonymGroup(stem))) return sum + weight * synonymShare
      return others.some((other) => stems.has(other)) ? sum + weight * relatedShare : sum
    }, 0)
  })
  const mass = Math.max(0, ...masses)
  return { share: total === 0 ? 0 : mass / total, mass }
}

/** By stem the weight of the strongest field that has it; and the groups of their synonyms. */
function wordsOf(tool: Tool) {
  const stems = new Map<string, number>()
  for (const { weight, textOf } of searchFields)
    for (const word of contentWords(textOf(tool))) {
      const stem = stemOf(word)
      if (!stems.has(stem)) stems.set(stem, weight)
    }
  const groups = new Set([...stems.keys()].map(synonymGroup))
  groups.delete(undefined)
  return { stems, groups }
}
