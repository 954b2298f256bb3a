/**
 * One page of a result: a part of it by its path, then so many characters, items or keys of that.
 */
import { AppError, atPointer, isObject, type Json, limits, sha256 } from '#model'

export type Format = 'json' | 'text' | 'keys'
export type Wanted = { path: string; offset: number; limit?: number; format?: Format }
export type Paged = Page & { bytes: number; digest: string }

type Page = { value: Json; next: number | null } | { text: string; next: number | null }

/** `digest` is that of the whole text, where it is known. */
export function pageOf(text: string, { path, offset, limit, format }: Wanted, digest?: string): Paged {
  const part = { text: partText(text, path), digest: path === '' ? digest : undefined }
  const bytes = Buffer.byteLength(part.text)
  return { ...shown(part.text, format, offset, limit), bytes, digest: part.digest ?? sha256(part.text) }
}

/** What stands at a JSON Pointer, as text. */
export function partText(text: string, path: string): string {
  return path === '' ? text : JSON.stringify(partAt(text, path))
}

function partAt(text: string, path: string): unknown {
  const value = atPointer(JSON.parse(text), path)
  if (value !== undefined) return value
  const details = `nothing stands at ${path}`
  throw new AppError('INVALID_INPUT_PARAM', `Cannot page the result: ${details}`, {
    param: 'path',
    details,
    value: path,
  })
}

function shown(text: string, format: Format | undefined, offset: number, limit: number | undefined): Page {
  if (format === 'text' && !text.startsWith('"')) return textPage(text, offset, limit)
  const value: Json = JSON.parse(text)
  if (format === 'keys') return listPage(isObject(value) ? Object.keys(value) : [], offset, limit)
  if (typeof value === 'string') return textPage(value, offset, limit)
  if (Array.isArray(value)) return listPage(value, offset, limit)
  if (!isObject(value)) return { value, next: null }
  const { value: entries, next } = listPage(Object.entries(value), offset, limit)
  return { value: Object.fromEntries(entries as [string, Json][]), next }
}

function textPage(text: string, offset: number, limit: number = limits.resultPageDefault): Page {
  const end = Math.min(text.length, offset + Math.min(limit, limits.resultPageMax))
  return { text: text.slice(offset, end), next: end < text.length ? end : null }
}

/** As many items as were asked for and fit into a page. */
function listPage(items: Json[], offset: number, limit: number = items.length) {
  const page: Json[] = []
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
