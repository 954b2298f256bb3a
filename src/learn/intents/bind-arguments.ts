/**
 * The arguments of a capability from the words of a new intent: a value stands where earlier
 * intents had theirs, or looks like theirs. What is not found is missing, never guessed.
 */

import { alignWords, plainWord, wordsOf } from '#learn/text'
import { isObject, type Json, type JsonObject, limits } from '#model'
import { once } from './once.ts'

/** An earlier execution: what was asked, and with which arguments. */
type PastArguments = { intent: string; args: Json }
type Bound = { args: JsonObject; missing: string[] }

type Candidate = { name: string; value: Json; start: number; end: number; score: number }
/** `plain` are its words as they are compared, those of the value as none. */
type PastMention = { words: string[]; plain: string[]; start: number; end: number; value: Json }

const comparedMax = 10
const scoreMin = 0.35
/** How far each way of finding a value is trusted. */
const trust = { between: 1, beside: 0.5, alike: 0.9, known: 0.8 }
const otherLookFactor = 0.4

export function bindArguments(
  intent: string,
  parameters: JsonObject,
  past: readonly PastArguments[],
  given: JsonObject = {},
): Bound {
  const words = wordsOf(intent.slice(0, limits.learnIntentCharactersMax))
  const properties = isObject(parameters.properties) ? parameters.properties : {}
  const open = Object.keys(properties).filter((name) => !Object.hasOwn(given, name))
  const compared = past.slice(-comparedMax)
  const said = new Map(open.map((name) => [name, compared.flatMap((one) => mentionsIn(one, name))]))
  const found = chooseDistinct(open.flatMap((name) => candidatesOf(name, words, said.get(name)!, properties[name]!)))
  const args: JsonObject = { ...given }
  const missing: string[] = []
  for (const name of open) {
    const value = found.get(name)
    const { default: preset } = isObject(properties[name]) ? properties[name] : {}
    if (value !== undefined) args[name] = value
    // A value that intents used to name must be named: what it was before is no answer.
    else if (said.get(name)!.length > 0 || preset === undefined) missing.push(name)
    else args[name] = preset
  }
  return { args, missing }
}

const mentionsOf = once((_: PastArguments) => new Map<string, PastMention[]>())

function mentionsIn(past: PastArguments, name: string): PastMention[] {
  const known = mentionsOf(past)
  const found = known.get(name) ?? saidIn(past, name)
  known.set(name, found)
  return found
}

/** Where an earlier intent has the value of a parameter; the last place, none where it has not. */
function saidIn({ intent, args }: PastArguments, name: string): PastMention[] {
  const value = isObject(args) ? args[name] : undefined
  if (typeof value !== 'string' && typeof value !== 'number') return []
  const words = wordsOf(intent.slice(0, limits.learnIntentCharactersMax))
  const parts = wordsOf(String(value)).map(bare)
  if (parts.length === 0) return []
  for (let start = words.length - parts.length; start >= 0; start--) {
    const end = start + parts.length
    if (!parts.every((part, at) => bare(words[start + at]!) === part)) continue
    const plain = words.map((word, at) => (at >= start && at < end ? '\0' : plainWord(word)))
    return [{ words, plain, start, end, value }]
  }
  return []
}

const bare = (word: string) => plainWord(word).replace(/^[#$€@]+|[.:?!]+$/gu, '')

function candidatesOf(name: string, words: string[], said: PastMention[], schema: Json): Candidate[] {
  const looks = new Set(said.map(({ value }) => lookOf(String(value))))
  const spans = [...said.flatMap((one) => spansByPlace(words, one)), ...spansByLook(words, looks, said)]
  const candidates = spans.flatMap(({ start, end, score }): Candidate[] => {
    const text = trim(words.slice(start, end).join(' '))
    const value = text === '' ? undefined : convert(text, said[0]!.value, schema)
    if (value === undefined) return []
    const isAlike = looks.has(lookOf(String(value)))
    return [{ name, value, start, end, score: score * (isAlike ? 1 : otherLookFactor) }]
  })
  const sums = Map.groupBy(candidates, ({ start, end }) => `${start} ${end}`)
  return [...sums.values()].map((group) => ({
    ...group[0]!,
    score: Math.max(...group.map(({ score }) => score)) + 0.1 * (group.length - 1),
  }))
}

type Span = { start: number; end: number; score: number }

/** What stands between the words that stood around the earlier value. */
function spansByPlace(words: string[], { words: earlier, plain, start, end }: PastMention): Span[] {
  const aligned = alignWords(plain, words.map(plainWord))
  const toNew = new Map(aligned)
  const taken = new Set(aligned.map(([, at]) => at))
  const before = start === 0 ? -1 : toNew.get(start - 1)
  const after = end === earlier.length ? words.length : toNew.get(end)
  const likeness = (2 * aligned.length) / (earlier.length + words.length)
  if (before !== undefined && after !== undefined && before + 1 < after && isOpen(taken, before + 1, after))
    return [{ start: before + 1, end: after, score: trust.between * (0.4 + 0.6 * likeness) }]
  const length = end - start
  const beside: [number, number][] = []
  if (before !== undefined && start > 0) beside.push([before + 1, before + 1 + length])
  if (after !== undefined && end < earlier.length) beside.push([after - length, after])
  return beside
    .filter(([from, to]) => from >= 0 && to <= words.length && isOpen(taken, from, to))
    .map(([from, to]) => ({ start: from, end: to, score: trust.beside * (0.4 + 0.6 * likeness) }))
}

function isOpen(taken: ReadonlySet<number>, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (taken.has(at)) return false
  return true
}

/** What looks like the earlier values, where it stands alone; and an earlier value itself. */
function spansByLook(words: string[], looks: ReadonlySet<string>, said: PastMention[]): Span[] {
  const telling = new Set([...looks].filter((look) => look !== 'a' && look !== 'Aa'))
  const places = [...words.keys()].filter((at) => telling.has(lookOf(trim(words[at]!))))
  const names = [...words.keys()].slice(1).filter((at) => looks.has('Aa') && lookOf(trim(words[at]!)) === 'Aa')
  const known = new Set(said.filter(({ start, end }) => end - start === 1).map(({ value }) => bare(String(value))))
  const only = (found: number[], score: number) =>
    found.length === 0 ? [] : found.map((at) => ({ start: at, end: at + 1, score: score / found.length }))
  return [
    ...only(places, trust.alike),
    ...only(names, trust.alike),
    ...[...words.keys()]
      .filter((at) => known.has(bare(words[at]!)))
      .map((at) => ({ start: at, end: at + 1, score: trust.known })),
    ...quotedSpans(words, said),
  ]
}

/** Earlier values stood in quotes: so does the one in quotes here. */
function quotedSpans(words: string[], said: PastMention[]): Span[] {
  const isQuote = (word: string | undefined) => word !== undefined && /^["“”']$/u.test(word)
  const wasQuoted = said.some(({ words: earlier, start, end }) => isQuote(earlier[start - 1]) && isQuote(earlier[end]))
  const quotes = [...words.keys()].filter((at) => isQuote(words[at]))
  if (!wasQuoted || quotes.length !== 2 || quotes[1]! - quotes[0]! < 2) return []
  return [{ start: quotes[0]! + 1, end: quotes[1]!, score: trust.alike }]
}

/** `ORD-1042` looks like `A-9`, `Paris` like `Aa`. */
function lookOf(text: string): string {
  return text
    .replace(/\p{Lu}+/gu, 'A')
    .replace(/\p{Ll}+/gu, 'a')
    .replace(/\p{N}+/gu, '9')
}

const trim = (text: string) => text.replace(/^["'“”#$€ ]+|["'“”.,?!;: ]+$/gu, '')

/** As the earlier values were; undefined where it cannot be one of them. */
function convert(text: string, earlier: Json, schema: Json): Json | undefined {
  const { enum: allowed, type } = isObject(schema) ? schema : {}
  const isNumber = typeof earlier === 'number' || type === 'number' || type === 'integer'
  const number = Number(text.replaceAll(',', ''))
  if (isNumber && !Number.isFinite(number)) return undefined
  const value = isNumber ? number : text
  return Array.isArray(allowed) && !allowed.includes(value) ? undefined : value
}

/** The surest first; no words are the value of two parameters. */
function chooseDistinct(candidates: Candidate[]): Map<string, Json> {
  const found = new Map<string, Json>()
  const taken = new Set<number>()
  for (const { name, value, start, end, score } of candidates.sort((a, b) => b.score - a.score)) {
    if (score < scoreMin || found.has(name) || !isOpen(taken, start, end)) continue
    found.set(name, value)
    for (let at = start; at < end; at++) taken.add(at)
  }
  return found
}
