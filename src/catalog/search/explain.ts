/**
 * Says of a result which words of the intent speak for it and where they stand, and of an unsure
 * one what speaks against it.
 */
import { contentWords, searchFields, stemOf, synonymGroup } from '#catalog/index'
import type { Tool } from '#model'
import { relatedWords } from './related-words.ts'

/**
 * At least so much is the score of a tool that is called by its name; less surely where the name is
 * only close to it.
 */
const nearlyNamedMin = 0.98
const namedMin = 0.995
/** So many are said of the words that a tool lacks, and of those that one after the first has. */
const lackingMax = 4
const otherMatchesMax = 3

/**
 * Each word of the intent once, under the strongest field that has it: `name: read; description:
 * disk`. A synonym is said with the word that stands there: `film as movies`. Of a tool after the
 * first only the strongest.
 */
export function explainFor(tool: Tool, score: number, intent: string, isFirst: boolean): string {
  const said = matchesOf(tool, intent).slice(0, isFirst ? undefined : otherMatchesMax)
  const reasons = [...Map.groupBy(said, ({ field }) => field)].map(
    ([field, matches]) => `${field}: ${matches.map(({ reason }) => reason).join(', ')}`,
  )
  if (score >= nearlyNamedMin) reasons.unshift(score >= namedMin ? 'this is its name' : 'this is nearly its name')
  return reasons.join('; ')
}

/**
 * What makes an answer unsure: words of the intent that the tool has nothing about, or others that
 * fit as well.
 */
export function explainAgainst(tool: Tool, intent: string, counted: readonly string[]): string {
  const matched = new Set(matchesOf(tool, intent).map(({ word }) => word))
  const lacking = counted.filter((word) => !matched.has(word)).slice(0, lackingMax)
  return lacking.length === 0 ? 'against: others fit as well' : `against: nothing about ${lacking.join(', ')}`
}

type Match = { word: string; field: string; reason: string }

function matchesOf(tool: Tool, intent: string): Match[] {
  const open = new Map([...new Set(contentWords(intent))].map((word) => [word, stemOf(word)]))
  const texts = searchFields.map(({ name, textOf }) => {
    const words = contentWords(textOf(tool))
    return { field: name, words, stems: new Set(words.map(stemOf)) }
  })
  const matches: Match[] = []
  for (const { field, words, stems } of texts) {
    for (const [word, stem] of open) {
      const reason = stems.has(stem) ? word : synonymIn(words, word, stem)
      if (reason === null) continue
      matches.push({ word, field, reason })
      open.delete(word)
    }
  }
  const related = relatedWords(intent)
  for (const { field, words, stems } of texts) {
    for (const { other, word } of related) {
      if (!stems.has(stemOf(other)) || matches.some((match) => match.word === word)) continue
      matches.push({
        word,
        field,
        reason: `${word} as ${words.find((each) => stemOf(each) === stemOf(other))}`,
      })
    }
  }
  return matches
}

function synonymIn(text: readonly string[], word: string, stem: string): string | null {
  const group = synonymGroup(stem)
  const other = group === undefined ? undefined : text.find((each) => synonymGroup(stemOf(each)) === group)
  return other === undefined ? null : `${word} as ${other}`
}
