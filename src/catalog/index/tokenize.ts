/**
 * Text as the words that search compares: names taken apart, small words left out, the rest cut to
 * its stem.
 */
import { limits } from '#model'
import { stem } from './stem.ts'

/** Words that say how something is asked, not what. */
const stopWords = new Set(
  `a about above after again against all also am an and any anything are as at be because been before being below
  between both but by called can could did do does doing during each everything few for from further had has have
  having hello here hey hi how i if in into is it its just let like me more most my named need no nor not of off on
  once only or other our out over own please same should so some something such than thank thanks that the their
  them then there these they thing things this those through to too under until up us very want was we were what
  when where which while who whom why will with within without would you your`.split(/\s+/),
)

/**
 * Lower case without accents, taken apart at what is neither letter nor digit, inside camelCase and
 * HTTPServer, and between the words of scripts that put nothing between them.
 */
export function tokenize(text: string): string[] {
  return isAscii.test(text) ? tokenizeAscii(text) : tokenizeUnicode(text)
}

const isAscii = /^[\x00-\x7f]*$/

function tokenizeUnicode(text: string): string[] {
  const words = text
    .normalize('NFKD')
    // The accents of alphabets; elsewhere a mark makes another letter of it.
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}]+/gu)
  return (words ?? []).flatMap((word) => (unspaced.test(word) ? segments(word) : [word]))
}

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const segmenter = new Intl.Segmenter('en', { granularity: 'word' })

function segments(text: string): string[] {
  return [...segmenter.segment(text)].flatMap(({ segment, isWordLike }) => (isWordLike === true ? [segment] : []))
}

const [other, lower, digit, upper] = [0, 1, 2, 3]
const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const letter = String.fromCharCode(code)
  return /[a-z]/.test(letter) ? lower : /[0-9]/.test(letter) ? digit : /[A-Z]/.test(letter) ? upper : other
})

/** The same for what nearly all text is, ten times as fast. */
function tokenizeAscii(text: string): string[] {
  const words: string[] = []
  let start = -1
  let before = other
  const end = (at: number) => {
    if (start >= 0) words.push(text.slice(start, at).toLowerCase())
  }
  for (let at = 0; at < text.length; at++) {
    const kind = kinds[text.charCodeAt(at)]!
    const isNew =
      kind === upper &&
      (before === lower || before === digit || (before === upper && kinds[text.charCodeAt(at + 1)] === lower))
    if (kind === other || isNew) {
      end(at)
      start = kind === other ? -1 : at
    } else if (start < 0) start = at
    before = kind
  }
  end(text.length)
  return words
}

/** The words that count, as they are written. */
export function contentWords(text: string): string[] {
  return tokenize(withoutContractions(text)).filter((word) => !isStopWord(word))
}

/** "Show me" and "tell me" ask for something, and say of it as little as the small words. */
const asking = /\b(?:show|tell|give) (?:me|us)\b/gi

export function withoutContractions(text: string): string {
  const plain = /['’]/.test(text) ? text.replace(/['’](?:s|t|re|ve|m|ll|d)\b/gi, ' ') : text
  return / (?:me|us)\b/i.test(plain) ? plain.replace(asking, ' ') : plain
}

export function isStopWord(word: string): boolean {
  return stopWords.has(word)
}

/** The words that count, as they are compared. */
export function contentStems(text: string): string[] {
  return contentWords(text).map(stemOf)
}

/** Few words make most of any text, so their stems are kept. */
const stems = new Map<string, string>()

/** The stem of a word as split() gives it. */
export function stemOf(word: string): string {
  const known = stems.get(word)
  if (known !== undefined) return known
  if (stems.size >= limits.stemsKeptMax) stems.clear()
  const cut = stem(word)
  stems.set(word, cut)
  return cut
}
