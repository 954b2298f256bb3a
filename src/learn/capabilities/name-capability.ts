/** A capability's name: the words of its intents that are no values, `refund_late_orders`. */

import { isSmallWord } from '#learn/text'
import type { Json } from '#model'

const wordsMax = 5
const charactersMax = 48

/**
 * `values` are what was lifted: where they stand in an intent they name one run, not the habit.
 * `isFree` tells what is taken.
 */
export function nameFor(
  intents: readonly string[],
  values: readonly Json[],
  tools: readonly string[],
  isFree: (name: string) => boolean,
): string {
  const phrases = [...new Set(values.map((value) => wordsOf(String(value)).join(' ')))].filter(Boolean)
  phrases.sort((left, right) => right.length - left.length)
  const [first = [], ...others] = intents.map((intent) => wordsWithout(intent, phrases))
  const common = first.filter((word) => others.every((words) => words.includes(word)))
  const said = (common.length > 0 ? common : first).filter((word) => !/\d/.test(word))
  const tool = wordsOf((tools[0] ?? 'procedure').replace(/^.*:/, ''))
  const base = joined(said.filter((word) => !isSmallWord(word))) || joined(said) || joined(tool) || 'procedure'
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}_${count}`
    if (isFree(name)) return name
  }
}

function wordsWithout(intent: string, phrases: readonly string[]): string[] {
  let text = ` ${wordsOf(intent).join(' ')} `
  for (const phrase of phrases) text = text.replaceAll(` ${phrase} `, ' ')
  return text.split(' ').filter(Boolean)
}

/** Latin letters and digits, without accents. */
function wordsOf(text: string): string[] {
  const plain = text.replaceAll('ß', 'ss').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.match(/[a-z0-9]+/g) ?? []
}

function joined(words: string[]): string {
  const unique = [...new Set(words)].slice(0, wordsMax)
  return unique
    .join('_')
    .slice(0, charactersMax)
    .replace(/^[^a-z]+|_+$/g, '')
}
