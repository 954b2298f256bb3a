/**
 * Where a text holds runs of base64 characters: in one piece, wrapped into lines, or escaped for
 * JSON or a URL.
 */
import { limits } from '#model'

/**
 * `clean` is the run without breaks and escapes; `places` are the places of its characters in the
 * text, and its end.
 */
export type Run = { start: number; stop: number; clean: string; places(): Int32Array | null }

/**
 * Standard and URL-safe: one flag for each code that a character may have, since every one of a
 * text is looked up.
 */
const alphabet = new Uint8Array(0x1_0000)
for (const sign of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_')
  alphabet[sign.charCodeAt(0)] = 1

/**
 * A line break as it is, escaped any number of times over or percent-encoded, and the two
 * characters that others escape.
 */
const lineBreak = /(?:\\+[rn]|%0[ad]|[\r\n][ \t]*)+(?=[\w+/-])/iy
const escapedSign = /%2[bf]|\\+\//iy
/** `\n`, `\r`, `%` and `\`: whatever continues a run begins with one of them. */
const mayContinue = new Uint8Array(0x1_0000)
for (const sign of '\n\r%\\') mayContinue[sign.charCodeAt(0)] = 1

/** Backslashes are tried from the first on: from each of many, they would take quadratic time. */
const sign = String.raw`(?:%2[bf]|(?<!\\)\\+/)`
const longRun = new RegExp(`[\\w+/-]{${limits.encodedCharactersMin}}|[\\w+/-]{4}${sign}|${sign}[\\w+/-]{4}`, 'i')

/** False where a quick look shows that there is none. */
export function mayHoldRuns(text: string): boolean {
  return longRun.test(text)
}

/** In one walk over the text; runs too short for the shortest secret are left out. */
export function encodedRuns(text: string): Run[] {
  const runs: Run[] = []
  const { length } = text
  for (let at = 0; at < length; at++) {
    if (alphabet[text.charCodeAt(at)] !== 1) continue
    const start = at
    let lineStart = at
    let isPlain = true
    for (;;) {
      while (at < length && alphabet[text.charCodeAt(at)] === 1) at++
      const next = at < length && mayContinue[text.charCodeAt(at)] === 1 ? continuation(text, at, at - lineStart) : at
      if (next === at) break
      isPlain = false
      if (matchAt(escapedSign, text, at) === at) lineStart = next
      at = next
    }
    if (at - start >= limits.encodedCharactersMin) runs.push(runOf(text, start, at, isPlain))
  }
  return runs
}

/**
 * Where the run goes on behind a break or with an escaped sign; `at` where it ends. Short lines are
 * words, not wrapped data.
 */
function continuation(text: string, at: number, lineCharacters: number): number {
  const behindSign = matchAt(escapedSign, text, at)
  if (behindSign !== at || lineCharacters < limits.encodedLineCharactersMin) return behindSign
  return matchAt(lineBreak, text, at)
}

function matchAt(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at
  return expression.test(text) ? expression.lastIndex : at
}

function runOf(text: string, start: number, stop: number, isPlain: boolean): Run {
  const encoded = text.slice(start, stop)
  if (isPlain) return { start, stop, clean: encoded, places: () => null }
  const clean = encoded
    .replace(/(?:\\+[rn]|%0[ad]|[\r\n][ \t]*)+/gi, '')
    .replace(/%2([bf])|\\+\//gi, (_, code) => (code === 'b' || code === 'B' ? '+' : '/'))
  let places: Int32Array | undefined
  return { start, stop, clean, places: () => (places ??= placesOf(text, start, stop, clean.length)) }
}

/** Walked only where something was found in the run. */
function placesOf(text: string, start: number, stop: number, count: number): Int32Array {
  const places = new Int32Array(count + 1).fill(stop)
  let index = 0
  for (let at = start; at < stop; ) {
    const next = alphabet[text.charCodeAt(at)] === 1 ? at + 1 : matchAt(escapedSign, text, at)
    if (next === at) at = Math.max(at + 1, matchAt(lineBreak, text, at))
    else {
      places[index++] = at
      at = next
    }
  }
  return places
}
