/**
 * Recognises a tool by its name, however it is spelled: `fs:read_file`, `readFile`, "read file",
 * `read_fiel`.
 */
import type { Tool } from '#model'
import { type Lookup, StringTable, type TableParts } from './string-table.ts'
import { contentStems, tokenize } from './tokenize.ts'

/** The places of the tools that are spelled so; most often one. */
type Places = Lookup<number | number[]>
type GrowingPlaces = Map<string, number | number[]>

/** Word by word, without anything between them, and by the stems of the words in any order. */
export type Names = { exact: Places; close: Places; near: Places }

/** To be stored. */
export type NamesParts = { exact: TableParts; close: TableParts; near: TableParts }

export function readNames({ exact, close, near }: NamesParts): Names {
  return { exact: new StringTable(exact), close: new StringTable(close), near: new StringTable(near) }
}

export function namesParts({ exact, close, near }: Names): NamesParts {
  const parts = (places: Places) => {
    if (places instanceof StringTable) return places.parts
    return StringTable.of([...places.keys()].map((key) => [key, places.get(key)!])).parts
  }
  return { exact: parts(exact), close: parts(close), near: parts(near) }
}

export function* buildNames(tools: readonly Tool[]): Generator<void, Names> {
  const names = { exact: new Map(), close: new Map(), near: new Map() } satisfies Record<string, GrowingPlaces>
  for (const [place, { server, name }] of tools.entries()) {
    const [own, words] = [tokenize(name), contentStems(name)]
    for (const spelling of [own, [...tokenize(server), ...own]]) {
      add(names.exact, spelling.join(' '), place)
      add(names.close, spelling.join(''), place)
    }
    for (const spelling of [words, [...contentStems(server), ...words]])
      add(names.near, spelling.sort().join(' '), place)
    if (place % 64 === 63) yield
  }
  return names
}

type NameMatch = { places: readonly number[]; score: number }

/**
 * Places of the tools that the text names, and how surely, best first; none for a text that names
 * none.
 */
export function matchByName(names: Names, text: string): NameMatch[] {
  const { close, near } = names
  const words = tokenize(text)
  const alike = [close.get(words.join('')) ?? []].flat()
  const whole = exactly(names, text)
  if (whole.length > 0) {
    const others = alike.filter((place) => !whole.includes(place))
    return [
      { places: whole, score: 1 },
      { places: others, score: 0.99 },
    ]
  }
  const parts = (text.match(calledByName) ?? []).flatMap((name) => exactly(names, name))
  if (parts.length > 0) return [{ places: [...new Set(parts)], score: 0.995 }]
  // Where the words end is lost in small letters, and a matter of taste in OAuth2Token.
  const closely = alike.length > 0 || stemKey(text) === '' ? alike : [near.get(stemKey(text)) ?? []].flat()
  if (closely.length > 0) return [{ places: closely, score: 0.99 }]
  const slips = /^[\w.:/-]+$/.test(text.trim()) ? withinOneEdit(close.keys(), words.join('')) : []
  return [{ places: slips.flatMap((spelling) => close.get(spelling)!), score: 0.98 }]
}

/**
 * What stands in a sentence and is no word of a language: `fs:read_file`, `read_file`, `readFile`.
 */
const calledByName = /(?<![\w.-])(?:[\w.-]*[:_][\w.:-]*|[a-z\d]+[A-Z]\w*)/g

/**
 * Whether the text calls the tool by its id, or by its name as one word: who writes `read_file`
 * means it, who writes "read a file" may not.
 */
export function isCalledBy({ id, name }: Tool, text: string): boolean {
  const words = new Set([name, id].map((spelling) => tokenize(spelling).join(' ')))
  const one = /^\S+$/.test(text.trim()) ? [text] : (text.match(calledByName) ?? [])
  return one.some((word) => words.has(tokenize(word).join(' ').replace(/^mcp /, '')))
}

/** Hosts and programs put `mcp` before the server. */
function exactly({ exact }: Names, name: string): number[] {
  const words = tokenize(name)
  const places = exact.get(words.join(' ')) ?? (words[0] === 'mcp' ? exact.get(words.slice(1).join(' ')) : undefined)
  return places === undefined ? [] : [places].flat()
}

/** A query of one word means a name: one typing error is allowed, except in very short ones. */
function withinOneEdit(spellings: Iterable<string>, name: string): string[] {
  if (name.length < 5) return []
  const [first, last] = [name.charCodeAt(0), name.charCodeAt(name.length - 1)]
  return [...spellings].filter((other) => {
    if (Math.abs(other.length - name.length) > 1) return false
    // A single slip leaves one of the two ends as it was.
    if (other.charCodeAt(0) !== first && other.charCodeAt(other.length - 1) !== last) return false
    return isOneEdit(name, other)
  })
}

/**
 * Whether one letter too many, too few, another, or two in the wrong order makes the one the other.
 */
export function isOneEdit(left: string, right: string): boolean {
  const [short, long] = left.length <= right.length ? [left, right] : [right, left]
  if (long.length - short.length > 1) return false
  let at = 0
  while (at < short.length && short[at] === long[at]) at++
  const rest = long.slice(at + 1)
  if (short.length < long.length) return short.slice(at) === rest
  const swapped = short[at] === long[at + 1] && short[at + 1] === long[at]
  return short.slice(at + 1) === rest || (swapped && short.slice(at + 2) === long.slice(at + 2))
}

/** Without small words and endings, in any order. */
function stemKey(text: string): string {
  return contentStems(text).sort().join(' ')
}

function add(map: GrowingPlaces, key: string, place: number): void {
  const places = map.get(key)
  if (places === undefined) map.set(key, place)
  else if (typeof places === 'number') map.set(key, [places, place])
  else places.push(place)
}
