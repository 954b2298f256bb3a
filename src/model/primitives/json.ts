/** JSON as values and as exact text: what was recorded is what is delivered, byte for byte. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** A JSON text that is written into an event as it stands. */
export class RawJson {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** JSON text of a value; what JSON cannot say (undefined, a function) becomes null. */
export function toText(value: unknown): string {
  return value instanceof RawJson ? value.text : (JSON.stringify(value) ?? 'null')
}

/**
 * Many a reader of lines takes U+2028 and U+2029 for the end of one, so that JSON which holds them
 * is cut: in a line they are escaped.
 */
export function escapeLineSeparators(json: string): string {
  return json.replace(/[\u2028\u2029]/g, (sign) => (sign === '\u2028' ? '\\u2028' : '\\u2029'))
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Whether a JSON value has at most so many levels: a recursion further down would overflow the
 * stack. Every answer passes here, so it makes no lists of its own.
 */
export function isWithinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth <= 0) return false
  if (Array.isArray(value)) return value.every((item) => isWithinDepth(item, depth - 1))
  for (const key in value) if (!isWithinDepth(value[key as keyof typeof value], depth - 1)) return false
  return true
}

/**
 * Whether a JSON text has more levels than that, found by counting brackets outside of its strings:
 * nothing is parsed. A text with at most two characters a level cannot have more, and is not looked
 * at.
 */
export function isTextDeeper(text: string, depthMax: number): boolean {
  if (text.length <= 2 * depthMax) return false
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString && code === backslash) at++
    else if (code === quote) inString = !inString
    else if (!inString && (code === brace || code === bracket)) depth++
    else if (!inString && (code === brace + 2 || code === bracket + 2)) depth--
    if (depth > depthMax) return true
  }
  return false
}

const [quote, backslash, brace, bracket] = [0x22, 0x5c, 0x7b, 0x5b]
