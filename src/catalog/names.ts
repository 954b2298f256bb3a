/** Recognises a tool by its name, however it is spelled: `fs:read_file`, `readFile`, "read file", `read_fiel`. */
import type { Tool } from '#model'
import { split, wordsOf } from './words.ts'

export type Names = { exact: Map<string, number[]>; near: Map<string, number[]> }

export function buildNames(tools: readonly Tool[]): Names {
  const names: Names = { exact: new Map(), near: new Map() }
  for (const [place, { id, name }] of tools.entries()) {
    for (const spelling of new Set([plain(id), plain(name)])) add(names.exact, spelling, place)
    for (const spelling of new Set([loose(id), loose(name)])) add(names.near, spelling, place)
  }
  return names
}

/** Places of the tools that the text names, and how surely, best first; empty for a text that names none. */
export function named({ exact, near }: Names, text: string): { places: readonly number[]; score: number } {
  const places = exact.get(plain(text))
  if (places !== undefined) return { places, score: 1 }
  const loosely = loose(text) === '' ? undefined : near.get(loose(text))
  if (loosely !== undefined) return { places: loosely, score: 0.99 }
  return { places: /^[\w.:/-]+$/.test(text.trim()) ? mistyped(exact, plain(text)) : [], score: 0.98 }
}

/** Whoever writes one word means a name: one slip of the hand is forgiven, except in very short ones. */
function mistyped(exact: Names['exact'], name: string): number[] {
  if (name.length < 5) return []
  const places: number[] = []
  for (const [other, at] of exact) if (isOneSlip(name, other)) places.push(...at)
  return places
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

function add(map: Map<string, number[]>, key: string, place: number): void {
  const places = map.get(key)
  if (places === undefined) map.set(key, [place])
  else places.push(place)
}
