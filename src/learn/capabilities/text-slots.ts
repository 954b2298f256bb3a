/**
 * Values inside longer texts: where intents name Ada and Bob, `Onboard Ada` and `Onboard Bob` are
 * one text with a slot. A slot is whole words where intents have them (`ORD-17`), else the letters
 * and digits in which a word differs (`ada` of `ada@example.org`). What no intent names is none.
 */
import { isValueLike, wordsOf } from '#learn/text'

/** A text as its constant parts and its slots, each slot with one value a run. */
export type SlottedText = (string | string[])[]

type Texts = readonly string[]

/** Null where the texts have no slot, or are nothing but one. */
export function slotsIn(texts: Texts, intents: Texts): SlottedText | null {
  const found = texts.length === 1 ? slotsOfOne(texts[0]!, intents[0]!) : slotsOfSeveral(texts, intents)
  const constant = found?.filter((piece) => typeof piece === 'string').join('') ?? ''
  const isSlotted = found?.some((piece) => typeof piece !== 'string') === true
  return isSlotted && /[\p{L}\p{N}]/u.test(constant) ? joined(found!) : null
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const alone = (text: string) => `(?<![\\p{L}\\p{N}])${escaped(text)}(?![\\p{L}\\p{N}])`

/** As the intent writes it; null where it does not stand there for itself. */
export function namedIn(intent: string, text: string): string | null {
  return text.trim() === '' ? null : (new RegExp(alone(text), 'iu').exec(intent)?.[0] ?? null)
}

/** Of a single run only what looks like a value is known to be one: `Ada`, `ORD-17`. */
function slotsOfOne(text: string, intent: string): SlottedText {
  const spans = valuesNamed(intent).filter((span) => span.length > 1)
  if (spans.length === 0 || isNamedExactly(text, intent)) return [text]
  const pattern = new RegExp(`(${spans.map(alone).join('|')})`, 'iu')
  return text.split(pattern).map((piece, at) => (at % 2 === 0 ? piece : [piece]))
}

/** The verb at the beginning names no value: `Onboard Ada` is not one because both stand there. */
function isNamedExactly(text: string, intent: string): boolean {
  const at = intent.indexOf(text)
  return at > 0 && namedIn(intent, text) !== null
}

/** Words side by side that look like values, the longest first. */
function valuesNamed(intent: string): string[] {
  const spans: string[] = []
  let isOpen = false
  for (const [at, word] of wordsOf(intent).entries()) {
    const isValue = isValueLike(word) && (at > 0 || /[\p{N}@_#]/u.test(word))
    const named = word.replace(/^[.,':]+|[.,':]+$/g, '')
    if (isValue && isOpen && namedIn(intent, `${spans.at(-1)} ${named}`)) spans[spans.length - 1] += ` ${named}`
    else if (isValue) spans.push(named)
    isOpen = isValue
  }
  return spans.filter(Boolean).sort((left, right) => right.length - left.length)
}

function slotsOfSeveral(texts: Texts, intents: Texts): SlottedText | null {
  const parts = partsThatVary(texts.map((text) => text.split(/(\s+)/)))
  const pieces: SlottedText = []
  for (const part of parts) {
    if (typeof part === 'string') pieces.push(part)
    else {
      const slot = slotIn(part, intents)
      if (slot === null) return null
      pieces.push(...slot)
    }
  }
  return pieces
}

/**
 * Word by word where there are as many, else what stands between the words that all begin and end
 * with.
 */
function partsThatVary(texts: readonly string[][]): SlottedText {
  const [first] = texts as [string[]]
  const isSame = (at: number, from: 'start' | 'end') =>
    texts.every(
      (words) =>
        (from === 'start' ? words[at] : words.at(-1 - at)) === (from === 'start' ? first[at] : first.at(-1 - at)),
    )
  if (texts.every(({ length }) => length === first.length)) {
    const parts = first.map((word, at) => (isSame(at, 'start') ? word : texts.map((words) => words[at]!)))
    return joined(parts)
  }
  const shortest = Math.min(...texts.map(({ length }) => length))
  let [before, after] = [0, 0]
  while (before < shortest && isSame(before, 'start')) before++
  while (after < shortest - before && isSame(after, 'end')) after++
  const middle = texts.map((words) => words.slice(before, words.length - after).join(''))
  return [first.slice(0, before).join(''), middle, after === 0 ? '' : first.slice(-after).join('')]
}

/** What stands in every intent: the whole, or the letters and digits that differ. */
function slotIn(part: string[], intents: Texts): SlottedText | null {
  const isNamed = (values: string[]) => values.every((value, at) => namedIn(intents[at]!, value) !== null)
  if (isNamed(part)) return [part]
  const [before, middle, after] = partsThatVary(part.map((text) => text.split(/([\p{L}\p{N}]+)/u)))
  const pieces = [before ?? '', middle ?? '', after ?? '']
  const slots = pieces.filter((piece) => typeof piece !== 'string')
  return slots.length === 1 && isNamed(slots[0]!) ? pieces : null
}

/** Constant parts side by side are one; so are two slots with nothing but space between them. */
function joined(pieces: SlottedText): SlottedText {
  const found: SlottedText = []
  for (const piece of pieces.filter((one) => one !== '')) {
    const last = found.at(-1)
    const before = found.at(-2)
    if (typeof piece === 'string' && typeof last === 'string') found[found.length - 1] = last + piece
    else if (typeof piece !== 'string' && typeof last === 'string' && /^\s+$/.test(last) && Array.isArray(before)) {
      found.splice(
        -2,
        2,
        before.map((value, at) => value + last + piece[at]!),
      )
    } else found.push(piece)
  }
  return found
}

type Pieces = readonly (string | { parameter: string })[]

/** What stands in the slots of a text; nothing where it is another text. */
export function slotValues(pieces: Pieces, text: string): Map<string, string> {
  const pattern = pieces.map((piece) => (typeof piece === 'string' ? escaped(piece) : '(.+?)')).join('')
  const found = new RegExp(`^${pattern}$`, 'su').exec(text)?.slice(1) ?? []
  const slots = pieces.filter((piece) => typeof piece !== 'string')
  return new Map(found.map((value, at) => [slots[at]!.parameter, value]))
}
