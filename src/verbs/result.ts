/** result(): the whole of any result, a page at a time. */
import { createHash } from 'node:crypto'
import { AppError, atPointer, fromErrorData, isObject, type JsonObject, limits, parseId, type RunId } from '#model'
import type { Store } from '#record'
import { type RunView, viewRun } from './answer.ts'
import { missing, numberOf, objectOf, oneOf, optional, textOf } from './input.ts'

type Page = { value: unknown; next: number | null } | { text: string; next: number | null }
type Format = 'json' | 'text' | 'keys'

export function result(store: Store, input: unknown): JsonObject {
  const { run, call, path, offset, limit, format } = readInput(input)
  const view = viewRun(store, run)
  const { status } = view.row
  if (call === undefined && view.finished === undefined) {
    return { run, status, value: null, offset, next: null, bytes: 0, digest: null }
  }
  const { text, value } = valueAt(store, view, call, path)
  const page = pageOf(text, value, format, offset, limit)
  const digest = createHash('sha256').update(text).digest('hex')
  const { next, ...shown } = page
  return { run, status, ...shown, offset, next, bytes: Buffer.byteLength(text), digest } as unknown as JsonObject
}

function pageOf(
  text: string,
  value: unknown,
  format: Format | undefined,
  offset: number,
  limit: number | undefined,
): Page {
  if (format === 'keys') return listPage(isObject(value) ? Object.keys(value) : [], offset, limit)
  if (format === 'text') return textPage(typeof value === 'string' ? value : text, offset, limit)
  if (typeof value === 'string') return textPage(value, offset, limit)
  if (Array.isArray(value)) return listPage(value, offset, limit)
  if (!isObject(value)) return { value, next: null }
  const { value: entries, next } = listPage(Object.entries(value), offset, limit)
  return { value: Object.fromEntries(entries as [string, unknown][]), next }
}

function textPage(text: string, offset: number, limit: number = limits.resultPageDefault): Page {
  const end = Math.min(text.length, offset + Math.min(limit, limits.resultPageMax))
  return { text: text.slice(offset, end), next: end < text.length ? end : null }
}

/** As many items as were asked for and fit into a page. */
function listPage(items: unknown[], offset: number, limit: number = items.length) {
  const page: unknown[] = []
  let characters = 0
  for (const item of items.slice(offset, offset + limit)) {
    characters += JSON.stringify(item).length
    if (characters > limits.resultPageMax) break
    page.push(item)
  }
  const next = offset + page.length
  if (page.length === 0 && next < items.length && limit > 0) {
    const message = `Cannot show item ${offset}: it alone is larger than a page; name it in "path", or ask for format "text"`
    throw new AppError('RESULT_TOO_LARGE', message, { offset, characters })
  }
  return { value: page, next: next < items.length ? next : null }
}

function readInput(input: unknown) {
  const { run, call, path, offset, limit, format } = objectOf('input', input)
  if (run === undefined) throw missing('run', 'it stands in the answer of execute')
  const count = (name: string) => (value: unknown) => numberOf(name, value, [0, Number.MAX_SAFE_INTEGER])
  return {
    run: parseId<RunId>('run', run),
    call: optional(call, (value) => (typeof value === 'number' ? String(value) : textOf('call', value)), undefined),
    path: optional(path, (value) => textOf('path', value), ''),
    offset: optional(offset, count('offset'), 0),
    limit: optional<number | undefined>(limit, count('limit'), undefined),
    format: optional<Format | undefined>(
      format,
      (value) => oneOf<Format>('format', value, ['json', 'text', 'keys']),
      undefined,
    ),
  }
}

/** The value of a run, of one of its calls, or of a part of either. */
function valueAt(
  store: Store,
  view: RunView,
  call: string | undefined,
  path: string,
): { text: string; value: unknown } {
  const text = call === undefined ? resultText(store, view) : callText(store, view, call)
  if (path === '') return { text, value: JSON.parse(text) }
  const value = atPointer(JSON.parse(text), path)
  if (value === undefined) {
    const details = `nothing stands at ${path}`
    throw new AppError('INVALID_INPUT_PARAM', `Cannot page the result: ${details}`, {
      param: 'path',
      details,
      value: path,
    })
  }
  return { text: JSON.stringify(value), value }
}

function resultText(store: Store, { finished }: RunView): string {
  if (finished?.error !== undefined) throw fromErrorData(finished.error)
  return store.text(finished?.result ?? null)
}

function callText(store: Store, { calls }: RunView, wanted: string): string {
  const call = calls.find(({ call, task }) => call === wanted || task === wanted)
  if (call === undefined) {
    const details = `the run has no call or task "${wanted}"`
    throw new AppError('INVALID_INPUT_PARAM', `Cannot page the result: ${details}`, {
      param: 'call',
      details,
      value: wanted,
    })
  }
  const { resolved } = call
  if (resolved?.value === undefined && isObject(resolved?.error)) throw fromErrorData(resolved.error)
  return store.text(resolved?.value ?? null)
}
