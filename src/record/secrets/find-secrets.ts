/**
 * Where secrets stand in a text, as they are or encoded; what overlaps is one secret, so that no
 * part of it is left over.
 */
import { limits } from '#model'
import { encodedViews, type Range } from './encoded-views.ts'

export function findSecrets(text: string, expressions: RegExp[]): Range[] {
  if (expressions.length === 0) return []
  const found = matches(text, expressions)
  const work = { characters: text.length * limits.encodedGrowthMax }
  found.push(...encodedMatches(text, expressions, limits.encodedDepthMax, work))
  const merged: Range[] = []
  for (const [start, stop] of found.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1)
    if (last && start < last[1]) last[1] = Math.max(last[1], stop)
    else merged.push([start, stop])
  }
  return merged
}

function matches(text: string, expressions: RegExp[]): Range[] {
  const found: Range[] = []
  for (const expression of expressions) {
    if (text.search(expression) < 0) continue
    for (const match of text.matchAll(expression)) {
      if (match[0].length > 0) found.push([match.index, match.index + match[0].length])
    }
  }
  return found
}

/** What is shorter than a secret may stand in decoded bytes by chance. */
function encodedMatches(text: string, expressions: RegExp[], depth: number, work: { characters: number }): Range[] {
  if (text.length < limits.encodedCharactersMin) return []
  return encodedViews(text).flatMap((view) => {
    work.characters -= view.text.length
    if (work.characters < 0) return []
    const plain = matches(view.text, expressions).filter(([start, stop]) => stop - start >= limits.secretBytesMin)
    const deeper = depth > 1 ? encodedMatches(view.text, expressions, depth - 1, work) : []
    return [...plain, ...deeper].flatMap((range) => {
      const place = view.back(range)
      return place === null ? [] : [place]
    })
  })
}
