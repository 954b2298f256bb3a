/** Recognises a tool by its name, however it is spelled: `fs:read_file`, `readFile`, "read file", `read_fiel`. */
import type { Tool } from '#model'
import { split, wordsOf } from './words.ts'

/** The places of the tools that are spelled so; most often one. */
type Places = Map<string, number | number[]>

export type Names = { exact: Places; near: Places /** The keys of `exact`, to look through. */; spellings: string[] }

export function* buildNames(tools: readonly Tool[]): Generator<void, Names> {
  const names: Names = { exact: new Map(), near: new Map(), spellings: [] }
  for (const [place, { server, name }] of tools.entries()) {
    const [own, words] = [split(name), wordsOf(name)]
    for (const spelling of [own, [...split(server), ...own]]) add(names.exact, spelling.join(' '), place)
    for (const spelling of [words, [...wordsOf(server), ...words]]) add(names.near, spelling.sort().join(' '), place)
    if (place % 64 === 63) yield
  }
  names.spellings = [...names.exact.keys()]
  return names
}

/** Places of the tools that the text names, and how surely, best first; empty for a text that names none. */
export function named({ exact, near, spellings }: Names, text: string): { places: readonly number[]; score: number } {
  const places = exact.get(plain(text))
  if (places !== undefined) return { places: [places].flat(), score: 1 }
  const loosely = loose(text) === '' ? undefined : near.get(loose(text))
  if (loosely !== undefined) return { places: [loosely].flat(), score: 0.99 }
  const slips = /^[\w.:/-]+$/.test(text.trim()) ? mistyped(spellings, plain(text)) : []
  return { places: slips.flatMap((spelling) => exact.get(spelling)!), score: 0.98 }
}

/** Whoever writes one word means a name: one slip of the hand is forgiven, except in very short ones. */
function mistyped(spellings: readonly string[], name: string): string[] {
  if (name.length < 5) return []
  const [first, last] = [name.charCodeAt(0), name.charCodeAt(name.length - 1)]
  return spellings.filter((other) => {
    if (Math.abs(other.length - name.length) > 1) return false
    // A single slip leaves one of the two ends as it was.
    if (other.charCodeAt(0) !== first && other.charCodeAt(other.length - 1) !== last) return false
    return isOneSlip(name, other)
  })
}

/** Whether one letter too many, too few, another, or two in the wrong order makes the one the other. */
export function isOneSlip(left: string, right: string): boolean {
  const [short, long] = left.length <= right.length ? [left, right] : [right, left]
  if (long.length - short.length > 1) return false
  let at = 0
  while (at < short.length && short[at] === long[at]) at++
  const rest = long.slice(at + 1)
  if (short.length < long.length) return short.slice(at) === rest
  const swapped = short[at] === long[at + 1] && short[at + 1] === long[at]
  return short.slice(at + 1) === rest || (swapped && short.slice(at + 2) === long.slice(at + 2))
}

function plain(text: string): string {
  return split(text).join(' ')
}

/** Without small words and endings, in any order. */
function loose(text: string): string {
  return wordsOf(text).sort().join(' ')
}

function add(map: Places, key: string, place: number): void {
  const places = map.get(key)
  if (places === undefined) map.set(key, place)
  else if (typeof places === 'number') map.set(key, [places, place])
  else places.push(place)
}
