/**
 * Tells the words of an intent that say what is to be done from its values: names, numbers, paths
 * and quoted text.
 */
import { contentWords } from '#catalog/index'

/** Quoted text of more words than this is a sentence, not a value. */
const quotedWordsMax = 8
const quoted = /"[^"\n]*"|“[^”\n]*”|`[^`\n]*`|«[^»\n]*»|(?<![\p{L}\p{N}])['‘][^'’\n]*['’](?![\p{L}\p{N}])/gu
/** src/app.ts, https://example.org, a@example.org, notes.txt. */
const isPath = /[/\\@]|[A-Za-z]\.[A-Za-z]/

/**
 * The words that a fitting tool should know, each once: no tool of the time knows Tokyo, and none
 * of files knows notes.txt. A word with a capital inside a sentence is a name; in a text where most
 * words have one it says nothing. Where only values are left, all words count.
 */
export function purposeWords(intent: string): string[] {
  const bare = withoutValues(intent)
  const words = contentWords(namesAreMarked(bare) ? bare.replace(properName, ' , ') : bare)
  return [...new Set(words.length > 0 ? words : contentWords(intent))]
}

/**
 * The words that count with how often each is said, and those of them that stand in values only;
 * names count as words here.
 */
export function countWords(intent: string): { said: Map<string, number>; values: Set<string> } {
  const said = new Map<string, number>()
  for (const word of contentWords(intent)) said.set(word, (said.get(word) ?? 0) + 1)
  const outside = new Set(contentWords(withoutValues(intent)))
  return { said, values: outside.size === 0 ? outside : new Set([...said.keys()].filter((word) => !outside.has(word))) }
}

function withoutValues(intent: string): string {
  return intent
    .replace(quoted, (text) => (text.split(/\s+/).length > quotedWordsMax ? text : ' , '))
    .replace(/[\x21-\x7e]+/g, (word) => (isPath.test(word) ? ' , ' : word))
    .replace(/[\w#$€£%+.,:-]+/g, (word) => (/\d/.test(word) ? ' , ' : word))
    .replace(/\s+/g, ' ')
}

/** Not at the start of a sentence: after a small letter or a comma. */
const properName = /(?<=[\p{Ll}\p{Lo},;'’] )\p{Lu}[\p{L}\p{M}]*(?: \p{Lu}[\p{L}\p{M}]*)*/gu

function namesAreMarked(text: string): boolean {
  const words = text.match(/\p{L}[\p{L}\p{M}]*/gu) ?? []
  return 2 * words.filter((word) => /^\p{Lu}/u.test(word)).length <= words.length
}
