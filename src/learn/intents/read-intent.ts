/** An intent as it is compared with others, with all that needs no other one to be told. */
import { isValueLike, plainWord, stemsOf, wordsOf } from '#learn/text'

/**
 * `words` are all, `outline` those with each quotation as one, `plain` the outline without case,
 * `frame` the places of the outline that do not look like values and `framed` the words there;
 * by place of the outline, `isValue` and `isSmall` say how a word looks.
 */
export type ReadIntent = {
  text: string
  words: string[]
  outline: string[]
  plain: string[]
  frame: number[]
  framed: string[]
  isValue: boolean[]
  isSmall: boolean[]
  /** It says what not to do. */
  isRefusal: boolean
  stems: Set<string>
  known: Set<string>
}

const refusing = new Set(['not', 'never', "don't", "doesn't", "didn't", "can't", "won't", 'no', 'without', 'except'])

export function readIntent(text: string): ReadIntent {
  const words = wordsOf(text)
  const outline = withoutQuoted(words)
  const plain = outline.map(plainWord)
  const isValue = outline.map(isValueLike)
  const frame = [...plain.keys()].filter((at) => at === 0 || !(isValue[at] || outline[at] === quotation))
  return {
    text,
    words,
    outline,
    plain,
    frame,
    framed: frame.map((at) => plain[at]!),
    isValue,
    isSmall: outline.map((word) => /^\p{Ll}+$/u.test(word)),
    isRefusal: words.some((word) => refusing.has(word.toLowerCase())),
    stems: new Set(stemsOf(text)),
    known: new Set(plain),
  }
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
