/** The content of an artifact as it comes in arguments and goes out a page at a time. */

import type { Parts } from '#catalog/built-in'
import { AppError, isObject, type JsonObject, toAppError } from '#model'

/** Exactly one of `content`, `contentBase64` and `from`, as bytes. */
export function contentOf({ content, contentBase64, from }: JsonObject, { resultText }: Parts): Buffer {
  const given = [content, contentBase64, from].filter((one) => one !== undefined)
  if (given.length === 0) throw new AppError('MISSING_REQUIRED_PARAM', missing, { param: 'content' })
  if (given.length > 1) throw invalid('content', 'stands beside another: give one of content, contentBase64 and from')
  if (typeof content === 'string') return textBytes(content)
  if (typeof contentBase64 === 'string') return base64Bytes(contentBase64)
  return resultBytes(from as JsonObject, resultText)
}

const missing = 'Cannot store nothing: give one of content, contentBase64 and from'

function textBytes(text: string): Buffer {
  if (!text.isWellFormed()) throw invalid('content', 'is not well-formed Unicode: it contains half of a surrogate pair')
  return Buffer.from(text)
}

/** Node skips what is no digit of base64; a content that was cut or mangled is not to be stored. */
function base64Bytes(text: string): Buffer {
  const isWhole = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
  if (!isWhole) throw invalid('contentBase64', 'is not base64 (RFC 4648, padded, without line breaks)')
  return Buffer.from(text, 'base64')
}

/** A text is stored as it is, any other value as its JSON. */
function resultBytes(from: JsonObject, resultText: Parts['resultText']): Buffer {
  try {
    const json = resultText(from)
    const value: unknown = json.startsWith('"') ? JSON.parse(json) : json
    return Buffer.from(String(value))
  } catch (thrown) {
    throw invalid('from', `names no result: ${toAppError(thrown).message}`, { value: from })
  }
}

export function invalid(param: string, details: string, more: { value?: unknown } = {}): AppError {
  return new AppError('INVALID_INPUT_PARAM', `Cannot read "${param}": it ${details}`, { param, details, ...more })
}

/** An error of the store of artifacts, with parameters by the names that the tool gives them. */
export function inToolWords(thrown: unknown, names: Readonly<Record<string, string>>): AppError {
  const error = toAppError(thrown)
  if (error.code !== 'INVALID_INPUT_PARAM' || !isObject(error.context)) return error
  const { param, details, ...more } = error.context as AppError<'INVALID_INPUT_PARAM'>['context']
  return invalid(names[param] ?? param, details, more)
}

type Page = { offset: number; next: number | null } & ({ content: string } | { contentBase64: string })

const textTypes = /^text\/|[/+](?:json|xml|yaml|javascript|typescript|csv|x-ndjson|x-sh|sql|toml|markdown)\b/

type Stored = { type: string; bytes: number; content: AsyncIterable<Uint8Array> }

/** The longest character, twice: enough behind a page to end it between two of them. */
const behindPage = 8

/**
 * Bytes from `offset`, at most `limit` of them. Of a text no character is split: it begins with the
 * next whole one and ends with the last, and has at least one. All is read, and so compared with
 * its digest; only the page is kept.
 */
export async function readPage({ type, bytes, content }: Stored, offset: number, limit: number): Promise<Page> {
  const start = Math.min(offset, bytes)
  const end = start + limit + behindPage
  const check = openTextCheck(type)
  const kept: Buffer[] = []
  let at = 0
  for await (const piece of content) {
    check.look(piece)
    const part = piece.subarray(Math.max(0, start - at), Math.max(0, end - at))
    if (part.length > 0) kept.push(Buffer.from(part))
    at += piece.length
  }
  const window = Buffer.concat(kept)
  const found = (check.isText() ? textIn(window, limit) : null) ?? bytesIn(window, limit)
  const next = start + found.end
  return { ...found.page, offset: start + found.start, next: next < bytes ? next : null }
}

/** Bytes of no known type, as scripts hand out, are a text where all of them can be one. */
function openTextCheck(type: string): { look(piece: Uint8Array): void; isText(): boolean } {
  if (type !== 'application/octet-stream') return { look: () => {}, isText: () => textTypes.test(type) }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isText = true
  const decode = (piece?: Uint8Array) => {
    try {
      decoder.decode(piece, { stream: piece !== undefined })
    } catch {
      isText = false
    }
  }
  return {
    look(piece) {
      if (isText && piece.includes(0)) isText = false
      if (isText) decode(piece)
    },
    isText() {
      if (isText) decode()
      return isText
    },
  }
}

type Found<Content> = { page: Content; start: number; end: number }

function bytesIn(window: Buffer, limit: number): Found<{ contentBase64: string }> {
  const end = Math.min(window.length, limit)
  return { page: { contentBase64: window.subarray(0, end).toString('base64') }, start: 0, end }
}

/** Null where it calls itself text and is not: as bytes, it is at least whole. */
function textIn(window: Buffer, limit: number): Found<{ content: string }> | null {
  const start = boundary(window, 0)
  const whole = backToBoundary(window, Math.min(window.length, start + limit))
  const end = whole > start ? whole : boundary(window, start + 1)
  try {
    const content = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(window.subarray(start, end))
    return { page: { content }, start, end }
  } catch {
    return null
  }
}

const isInside = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

function boundary(bytes: Buffer, from: number): number {
  let at = Math.min(from, bytes.length)
  while (isInside(bytes[at])) at++
  return at
}

function backToBoundary(bytes: Buffer, from: number): number {
  let at = from
  while (at > 0 && isInside(bytes[at])) at--
  return at
}
