/**
 * The values of a new intent that stand where earlier intents of the same habit had others: what
 * the common skeleton leaves open, grown to whole names, numbers and quotations.
 */
import { alignWords, isValueLike } from '#learn/text'
import type { ReadIntent } from './read-intent.ts'

const comparedMembers = 10
/** Small words that stand inside of names. */
const joints = new Set(['of', '&', ',', "'s", '-', '(', ')', "'"])

type Alignment = { member: ReadIntent; toMember: Map<number, number>; likeness: number }

/** The values in their order; those that the last intent had at the same place are left out. */
export function fillSlots(intent: ReadIntent, members: readonly ReadIntent[]): string[] {
  const { words } = intent
  const all = members.slice(-comparedMembers).map((member): Alignment => {
    const aligned = alignWords(caseful(member.words), caseful(words))
    const toMember = new Map(aligned.map(([left, right]) => [right, left]))
    return { member, toMember, likeness: (2 * aligned.length) / (words.length + member.words.length) }
  })
  const top = Math.max(...all.map(({ likeness }) => likeness))
  const near = all.filter(({ likeness }) => likeness >= 0.7 * top)
  const open = words.map((_, at) => near.some(({ toMember }) => !toMember.has(at)))
  openWhole(words, open)
  growNames(words, open, near.length)
  return valuesOf(words, open, near.at(-1)!, all.at(-1)!)
}

/** Case counts, except where a sentence begins. */
function caseful(words: readonly string[]): string[] {
  return words.map((word, at) => {
    const plain = word.replace(/^[.,']+|[.,']+$/g, '')
    return isSentenceStart(words, at) ? plain.toLowerCase() : plain || word
  })
}

const isSentenceStart = (words: readonly string[], at: number) => at === 0 || /[.?!]$/.test(words[at - 1]!)

const pairs = [
  ['"', '"'],
  ['[', ']'],
  ['(', ')'],
]

/** What stands in quotes or brackets is one value: open as a whole, or not at all. */
function openWhole(words: readonly string[], open: boolean[]): void {
  for (const [left, right] of pairs) {
    const places = [...words.keys()].filter((at) => words[at] === left || words[at] === right)
    for (let at = 0; at + 1 < places.length; at += 2) {
      const [start, end] = [places[at]!, places[at + 1]!]
      const isOpen = open.slice(start + 1, end).includes(true)
      if (isOpen) open.fill(true, start + 1, end)
      if (left === '"') open[start] = open[end] = false
      else if (isOpen && left === '[') open[start] = open[end] = true
    }
  }
}

/** With few intents to compare, equal words inside of a name are equal by chance. */
function growNames(words: readonly string[], open: boolean[], compared: number): void {
  const isName = (at: number) => at >= 0 && at < words.length && isValueLike(words[at]!) && !isSentenceStart(words, at)
  for (let round = 0; round < 4; round++) {
    for (const at of words.keys()) {
      if (open[at]) continue
      const [left, right] = [open[at - 1] ?? false, open[at + 1] ?? false]
      const isFew = compared < 3
      const isBetween =
        left && right && (words[at] === ',' || (isFew && (joints.has(words[at]!.toLowerCase()) || isName(at))))
      const isYear = left && /^[12]\d{3}[.,?]?$/.test(words[at]!)
      const isBeside =
        isFew && isName(at) && ((left && isValueLike(words[at - 1]!)) || (right && isValueLike(words[at + 1]!)))
      const isList = words[at] === ',' && left && isName(at + 1) && isName(at - 1) && compared < 2
      if (isBetween || isYear || isBeside || isList) open[at] = true
    }
  }
}

const trim = (text: string) =>
  text
    .replace(/^["'“” ]+|["'“” ]+$/g, '')
    .replace(/[.,?!;: ]+$/, '')
    .replace(/^["' ]+|["' ]+$/g, '')

function valuesOf(words: readonly string[], open: boolean[], near: Alignment, last: Alignment): string[] {
  const values: string[] = []
  for (let start = 0; start < words.length; start++) {
    if (!open[start]) continue
    let end = start + 1
    while (open[end] && words[end] !== '"') end++
    const before = near.toMember.get(start - 1)
    const other = (before === undefined ? undefined : near.member.words[before + 1]) ?? ''
    const value = trim(withoutCommonPart(words.slice(start, end), other))
    if (value !== '' && !isUnchanged(last, start, end)) values.push(value)
    start = end - 1
  }
  return values
}

/** Of `top-2` beside `top-5` only the 2, of `#304` the number, no "the" that both have. */
function withoutCommonPart(run: string[], other: string): string {
  if (run.length > 1) return (run[0] === 'the' && other === 'the' ? run.slice(1) : run).join(' ')
  const word = run[0]!
  const prefix = /^(#|[\p{L}]+-)/u.exec(word)?.[0] ?? ''
  return other.startsWith(prefix) ? word.slice(prefix.length) : word
}

/** The last intent has the same words in one piece. */
function isUnchanged({ toMember }: Alignment, start: number, end: number): boolean {
  const first = toMember.get(start)
  if (first === undefined) return false
  for (let at = start; at < end; at++) if (toMember.get(at) !== first + at - start) return false
  return true
}
