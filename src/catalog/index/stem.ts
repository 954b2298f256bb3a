/**
 * Cuts English words to a common stem, after Porter (1980): "creating", "created" and "creates"
 * become one.
 */

const consonant = '(?:[^aeiouy]|(?<![a-z])y|(?<=[aeiou])y)'
const vowel = '(?:[aeiou]|(?<=[^aeiou])y)'
/** Sequences of vowels and consonants, the measure of how long a stem is. */
const syllable = new RegExp(`${vowel}+${consonant}+`, 'g')
const hasVowel = new RegExp(vowel)
const endsDouble = /([^aeiouylsz])\1$/
const endsShort = new RegExp(`^${consonant}*[aeiouy][^aeiouwxy]$`)

export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z\d]+$/.test(word)) return word
  // What has digits in it is a name: it may stand in the plural, and has no other endings.
  if (/\d/.test(word)) return /[a-z]{2}s$/.test(word) ? plural(word) : word
  return short(long(medium(adjective(past(plural(word))))))
}

function measure(text: string): number {
  return text.match(syllable)?.length ?? 0
}

function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') && !word.endsWith('us') ? word.slice(0, -1) : word
}

function past(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const match = /^(.+?)(ed|ing)$/.exec(word)
  if (match === null || !hasVowel.test(match[1]!)) return word
  const rest = match[1]!
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`
  if (endsDouble.test(rest)) return rest.slice(0, -1)
  return measure(rest) === 1 && endsShort.test(rest) ? `${rest}e` : rest
}

function adjective(word: string): string {
  return word.endsWith('y') && hasVowel.test(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word
}

const mediumEnds: [string, string][] = [
  ['ational', 'ate'],
  ['ization', 'ize'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['entli', 'ent'],
  ['ousli', 'ous'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['ator', 'ate'],
  ['eli', 'e'],
]
const longEnds: [string, string][] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
]

function medium(word: string): string {
  return replaceEnd(word, mediumEnds)
}

function replaceEnd(word: string, ends: [string, string][]): string {
  const found = ends.find(([end]) => word.endsWith(end))
  if (found === undefined) return word
  const rest = word.slice(0, -found[0].length)
  return measure(rest) > 0 ? rest + found[1] : word
}

const lastEnds = /^(.+?)(?:ement|ance|ence|able|ible|ment|ant|ent|ism|ate|iti|ous|ive|ize|al|er|ic|ou|(?<=[st])ion)$/

function long(word: string): string {
  const shorter = replaceEnd(word, longEnds)
  const match = lastEnds.exec(shorter)
  return match !== null && measure(match[1]!) > 1 ? match[1]! : shorter
}

function short(word: string): string {
  const rest = word.slice(0, -1)
  if (word.endsWith('e')) {
    const size = measure(rest)
    return size > 1 || (size === 1 && !endsShort.test(rest)) ? rest : word
  }
  return word.endsWith('ll') && measure(word) > 1 ? rest : word
}
