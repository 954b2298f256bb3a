/** How alike two intents are, word by word: where they agree, and what stands in between. */
import { alignWords } from '#learn/text'
import type { Weights } from './intent-weights.ts'
import type { ReadIntent } from './read-intent.ts'

export function pairFeatures(intent: ReadIntent, member: ReadIntent, weights: Weights): number[] {
  const [left, right] = [intent.plain, member.plain]
  const aligned = alignWords(left, right)
  const common = aligned.reduce((sum, [at]) => sum + weights.of(left[at]!), 0)
  const openLeft = openRuns(
    left.length,
    aligned.map(([at]) => at),
  )
  const openRight = openRuns(
    right.length,
    aligned.map(([, at]) => at),
  )
  const isEqual = (at: number, to: number) => left.at(at) === right.at(to)
  const shorter = Math.min(left.length, right.length)
  let prefix = 0
  while (prefix < shorter && isEqual(prefix, prefix)) prefix++
  let suffix = 0
  while (suffix < shorter - prefix && isEqual(-1 - suffix, -1 - suffix)) suffix++
  const values = ({ isValue }: ReadIntent, { places }: Open) =>
    places.length === 0 ? 1 : places.filter((at) => isValue[at]).length / places.length
  const strange = ({ plain, isValue }: ReadIntent, { places }: Open) =>
    most(places.filter((at) => !isValue[at]).map((at) => weights.of(plain[at]!)))
  const inserted = insertedWords(intent, member, aligned)
  const frames = frameLikeness(intent, member, weights)
  return [
    (2 * aligned.length) / (left.length + right.length),
    (2 * common) / (weights.plain(intent) + weights.plain(member)),
    jaccard(intent.stems, member.stems),
    prefix / left.length,
    suffix / left.length,
    Math.min(prefix, 5),
    openLeft.runs,
    openRight.runs,
    values(intent, openLeft),
    values(member, openRight),
    Math.abs(openLeft.places.length - openRight.places.length),
    openLeft.places.length / left.length,
    aligned.length / shorter,
    strange(intent, openLeft),
    strange(member, openRight),
    Math.min(3, inserted.length),
    most(inserted.map(({ plain }) => weights.of(plain))),
    Math.min(3, inserted.filter(({ isSmall }) => isSmall).length),
    ...frames,
  ]
}

const most = (numbers: readonly number[]) => Math.max(0, ...numbers)

type Words = ReadonlySet<string>

export function countShared(left: Words, right: Words): number {
  const [few, many] = left.size <= right.size ? [left, right] : [right, left]
  let count = 0
  for (const word of few) if (many.has(word)) count++
  return count
}

export function jaccard(left: Words, right: Words): number {
  const shared = countShared(left, right)
  return shared / Math.max(1, left.size + right.size - shared)
}

type Inserted = { plain: string; isSmall: boolean }

/** Words where the other text has nothing: another value replaces, another request adds. */
function insertedWords(left: ReadIntent, right: ReadIntent, aligned: [number, number][]): Inserted[] {
  const found: Inserted[] = []
  const add = ({ plain, isSmall }: ReadIntent, start: number, end: number) => {
    for (let at = start; at < end; at++) found.push({ plain: plain[at]!, isSmall: isSmall[at]! })
  }
  let [leftEnd, rightEnd] = [0, 0]
  for (const [at, to] of [...aligned, [left.plain.length, right.plain.length] as const]) {
    if (at > leftEnd !== to > rightEnd) {
      add(left, leftEnd, at)
      add(right, rightEnd, to)
    }
    ;[leftEnd, rightEnd] = [at + 1, to + 1]
  }
  return found
}

/** The likeness of what is left without names, numbers and quotations. */
function frameLikeness(intent: ReadIntent, member: ReadIntent, weights: Weights): number[] {
  const aligned = alignWords(intent.framed, member.framed)
  const common = aligned.reduce((sum, [at]) => sum + weights.of(intent.framed[at]!), 0)
  const both = weights.framed(intent) + weights.framed(member)
  const share = (2 * common) / Math.max(1e-9, both)
  return [share, share ** 4, Math.min(8, both - 2 * common)]
}

type Open = { places: number[]; runs: number }

/** The places of so many words that are not aligned, and in how many runs they stand. */
function openRuns(length: number, aligned: readonly number[]): Open {
  const places: number[] = []
  let [runs, next] = [0, 0]
  for (let at = 0; at < length; at++) {
    if (at === aligned[next]) next++
    else {
      if (places.at(-1) !== at - 1) runs++
      places.push(at)
    }
  }
  return { places, runs }
}
