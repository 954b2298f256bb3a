/** An event as exact bytes: its line, its hash, and what of it is too large to stand in it. */
import { AppError, assert, type BlobReference, isObject, limits, RawJson, sha256, toText } from '#model'
import type { BlobBytes } from '#record/disk'

export const firstHash = '0'.repeat(64)

/** The line up to its body; the rest is the body and one brace. */
export function lineHead(run: string, n: number, at: string, type: string): string {
  return `{"run":${JSON.stringify(run)},"n":${n},"at":"${at}","type":"${type}","body":`
}

export function lineText(run: string, n: number, at: number, type: string, body: string): string {
  const line = `${lineHead(run, n, timeText(at), type)}${body}}`
  assert(fits(line, limits.eventLineBytesMax), 'what is large in an event stands as a blob')
  return line
}

export function lineHash(previous: string, line: string): string {
  return sha256(`${previous}\n${line}`)
}

/**
 * A body as JSON text, members in the order given; what is too large, or could be taken for a
 * reference, as a blob.
 */
export function bodyText(body: object): { text: string; blobs: BlobBytes[] } {
  const whole = Object.values(body).some(isRaw) ? '' : JSON.stringify(body)
  if (whole !== '' && fits(whole, limits.eventValueBytesMax) && !whole.includes('$blob'))
    return { text: whole, blobs: [] }
  const blobs: BlobBytes[] = []
  const members: string[] = []
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    const text = toText(value)
    assert(!isRaw(value) || !hasLineBreak(text), 'the text of a member has no line break')
    members.push(`${JSON.stringify(name)}:${mustStandOutside(text) ? reference(text, blobs) : text}`)
  }
  return { text: `{${members.join(',')}}`, blobs }
}

/** Two searches for a character are much faster in a large text than one for a set of them. */
function hasLineBreak(text: string): boolean {
  return text.includes('\n') || text.includes('\r')
}

export function isBlobReference(value: unknown): value is BlobReference {
  return isObject(value) && typeof value.$blob === 'string'
}

function mustStandOutside(text: string): boolean {
  if (!fits(text, limits.eventValueBytesMax)) return true
  return /\$blob|\\u/.test(text) && isBlobLike(JSON.parse(text))
}

function fits(text: string, bytesMax: number): boolean {
  return text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax
}

function isRaw(value: unknown): boolean {
  return value instanceof RawJson
}

function isBlobLike(value: unknown): boolean {
  return isObject(value) && Object.hasOwn(value, '$blob')
}

function reference(text: string, blobs: BlobBytes[]): string {
  const bytes = Buffer.from(text)
  if (bytes.length > limits.blobBytesMax) {
    const state = `a value of ${bytes.length} bytes is over the limit of ${limits.blobBytesMax}`
    throw new AppError('RESULT_TOO_LARGE', `Cannot record the event: ${state}`, { bytes: bytes.length })
  }
  const digest = sha256(bytes)
  blobs.push({ digest, bytes })
  return JSON.stringify({ $blob: digest, bytes: bytes.length } satisfies BlobReference)
}

/** RFC 3339 with milliseconds. Events come in bursts, so the last one is kept. */
function timeText(at: number): string {
  if (at !== lastTime.at) lastTime = { at, text: new Date(at).toISOString() }
  return lastTime.text
}

let lastTime = { at: 0, text: new Date(0).toISOString() }
