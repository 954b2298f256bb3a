/**
 * Finds the JSON object in what a model wrote: between prose, in a code fence, after its thoughts.
 * What is not certain is refused with a reason that the model can act on.
 */
import { isObject, isTextDeeper, type Json, limits } from '#model'

type Extracted = { ok: true; value: Json } | { ok: false; reason: string }

/** `fits` decides between several objects; without it several are one too many. */
export function extractJson(text: string, fits: (value: Json) => boolean = () => true): Extracted {
  const whole = parsed(text.trim())
  if (whole !== undefined) return { ok: true, value: whole }
  const { objects, isCut } = objectsIn(text)
  const values = objects.map(parsed).filter((value) => value !== undefined)
  const [first, ...others] = distinct(values.length > 1 ? values.filter(fits) : values)
  if (first !== undefined && others.length === 0) return { ok: true, value: first }
  if (values.length > 0) return refused('it holds several JSON objects: send exactly one')
  if (objects.length > 0) return refused(`its JSON cannot be parsed: ${errorOf(objects.at(-1)!)}`)
  return refused(isCut ? 'its JSON is cut off: an object that begins does not end' : 'it holds no JSON object')
}

function refused(reason: string): Extracted {
  return { ok: false, reason }
}

function distinct(values: Json[]): Json[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}

/** The texts of the objects outside of thoughts, from left to right. */
function objectsIn(text: string): { objects: string[]; isCut: boolean } {
  let objects: string[] = []
  let isCut = false
  let failures = 0
  const marks = /\{|<(\/?)(think|thinking|reasoning)>/gi
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '{') {
      const end = endOfObject(text, mark.index)
      if (end > 0 && isTextDeeper(text.slice(mark.index, end), limits.upstreamDepthMax)) continue
      if (end > 0) objects.push(text.slice(mark.index, end))
      if (end > 0) marks.lastIndex = end
      isCut ||= end < 0
      if (end < 0 && ++failures >= limits.jsonStartsMax) break
    } else if (mark[1] === '/') {
      // Some models leave out the tag that opens their thoughts.
      objects = []
      isCut = false
    } else {
      const close = new RegExp(`</${mark[2]}>`, 'gi')
      close.lastIndex = marks.lastIndex
      if (close.exec(text) === null) break
      marks.lastIndex = close.lastIndex
    }
  }
  return { objects, isCut }
}

/** The index after the bracket that closes the one at `start`; -1 where there is none. */
function endOfObject(text: string, start: number): number {
  let depth = 0
  let inString = false
  for (let at = start; at < text.length; at++) {
    const sign = text[at]
    if (inString && sign === '\\') at++
    else if (sign === '"') inString = !inString
    else if (!inString && sign === '{') depth++
    else if (!inString && sign === '}' && --depth === 0) return at + 1
  }
  return -1
}

/** Undefined where it is no JSON, also after what is unambiguous was corrected. */
function parsed(text: string): Json | undefined {
  if (!/^[[{]/.test(text) || isTextDeeper(text, limits.upstreamDepthMax)) return undefined
  for (const form of [() => text, () => corrected(text)]) {
    try {
      const value: Json = JSON.parse(form())
      if (isObject(value) || Array.isArray(value)) return value
    } catch {}
  }
  return undefined
}

function errorOf(text: string): string {
  try {
    JSON.parse(corrected(text))
    return ''
  } catch (error) {
    return (error as Error).message.slice(0, limits.previewCharactersMax)
  }
}

const escapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Commas before a closing bracket go; line breaks and tabs inside of strings are escaped. What is
 * very long stays as it is: an expression over it would overflow the stack.
 */
function corrected(text: string): string {
  if (text.length > limits.jsonCorrectedCharactersMax) return text
  return text.replace(/"(?:[^"\\]|\\[\s\S])*"|,(?=\s*[}\]])/g, (part) =>
    part === ',' ? '' : part.replace(/[\n\r\t]/g, (sign) => escapes[sign]!),
  )
}
