/**
 * What a text holds in encoded form (base64, hexadecimal, UTF-16), as texts of their own with the
 * way back into the first.
 */
import { limits } from '#model'
import { encodedRuns, mayHoldRuns, type Run } from './encoded-runs.ts'

export type Range = [start: number, stop: number]

/**
 * In `text` a character stands for a byte; `back` is where a part of it stands in the text that it
 * was decoded from.
 */
type View = { text: string; back(range: Range): Range | null }

export function encodedViews(text: string): View[] {
  return [...decodedView(text), ...utf16View(text)]
}

/** A part of a run, from `offset` on, whose bytes begin at `start` of the decoded text. */
type Segment = { run: Run; offset: number; characters: number; bitsEach: 4 | 6; start: number }

/**
 * Decodes all runs together, since many of them are short. Data may begin in the midst of a run, so
 * each is decoded at every alignment: four in base64, two in hexadecimal. Segments are filled up to
 * whole groups and end with line breaks.
 */
function decodedView(text: string): View[] {
  if (!mayHoldRuns(text)) return []
  const runs = encodedRuns(text)
  if (runs.length === 0) return []
  const segments: Segment[] = []
  const groups = { base64: [] as string[], hex: [] as string[] }
  let start = 0
  for (const run of runs) {
    if (isOnlyHex(run)) continue
    for (let offset = 0; offset < 4; offset++) {
      const part = run.clean.slice(offset)
      const group = `${part}${'KKK'.slice(0, (4 - (part.length % 4)) % 4)}CgoK`
      groups.base64.push(group)
      segments.push({ run, offset, characters: part.length, bitsEach: 6, start })
      start += (group.length / 4) * 3
    }
  }
  for (const run of runs) {
    for (const { index, 0: digits } of run.clean.matchAll(hexDigits)) {
      for (let shift = 0; shift < 2; shift++) {
        const characters = digits.length - shift - ((digits.length - shift) % 2)
        groups.hex.push(digits.slice(shift, shift + characters), '0a')
        segments.push({ run, offset: index + shift, characters, bitsEach: 4, start })
        start += characters / 2 + 1
      }
    }
  }
  const bytes = [Buffer.from(groups.base64.join(''), 'base64'), Buffer.from(groups.hex.join(''), 'hex')]
  const decoded = bytes.map((each) => each.toString('latin1')).join('')
  return [{ text: decoded, back: (range) => placeOf(text, segments, range) }]
}

const hexDigits = new RegExp(`[0-9a-fA-F]{${2 * limits.secretBytesMin},}`, 'g')

/** So many characters of base64 are never all hexadecimal by chance. */
function isOnlyHex({ clean }: Run): boolean {
  return clean.length >= limits.hexCharactersCertain && /^[0-9a-fA-F]+$/.test(clean)
}

/**
 * Characters that hold bits of a neighbour too are left out: the same secret then has the same
 * placeholder beside others.
 */
function placeOf(text: string, segments: Segment[], [from, to]: Range): Range | null {
  const { run, offset, characters, bitsEach, start } = segments[segmentAt(segments, from)]!
  const bytes = Math.floor((characters * bitsEach) / 8)
  const [first, last] = [from - start, Math.min(bytes, to - start)]
  const begin = offset + Math.ceil((first * 8) / bitsEach)
  const end = offset + (last === bytes ? characters : Math.floor((last * 8) / bitsEach))
  return begin < end ? placeInText(text, run, begin, end) : null
}

/** With the padding behind the end of a run. */
function placeInText(text: string, run: Run, begin: number, end: number): Range {
  const places = run.places()
  const [from, to] = places === null ? [run.start + begin, run.start + end] : [places[begin]!, places[end]!]
  let stop = end === run.clean.length ? run.stop : to
  if (stop === run.stop) while (text[stop] === '=') stop++
  return [from, stop]
}

/** Backslashes are tried from the first on: from each of many, they would take quadratic time. */
const nul = String.raw`(?:\0|(?<!\\)\\+u0000|(?<!\\)\\+x00|%00)`
const nuls = new RegExp(nul, 'g')
const isUtf16 = new RegExp(`${nul}[^\\0]${nul}[^\\0]${nul}[^\\0]${nul}`)

/**
 * Text of two bytes a character, seen as one byte each: without the NULs between, in whichever
 * order of bytes.
 */
function utf16View(text: string): View[] {
  if (!isUtf16.test(text)) return []
  const parts: { start: number; place: number }[] = []
  let [decoded, place] = ['', 0]
  for (const { index, 0: sign } of [...text.matchAll(nuls), { index: text.length, 0: '' }]) {
    parts.push({ start: decoded.length, place })
    decoded += text.slice(place, index)
    place = index + sign.length
  }
  const back = (at: number) => {
    const part = parts[segmentAt(parts, at)]!
    return part.place + at - part.start
  }
  return [{ text: decoded, back: ([from, to]) => [back(from), back(to - 1) + 1] }]
}

/** The last one that begins no later, by bisection. */
function segmentAt(segments: { start: number }[], at: number): number {
  let [low, high] = [0, segments.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (segments[middle]!.start <= at) low = middle
    else high = middle - 1
  }
  return low
}
