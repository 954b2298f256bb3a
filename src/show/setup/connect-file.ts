/**
 * Reads and writes a configuration file whole, in one step, and never one whose comments would be
 * lost.
 */
import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError, isObject, type JsonObject, parseJsonc, replaceFile } from '#model'

/** A JSON object; an empty file is an empty object. */
export function readDocument(file: string): JsonObject {
  const text = readFileSync(file, 'utf8')
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value as JsonObject
  } catch {
    // What is wrong with it is said below.
  }
  throw new AppError(
    'CONFIG_INVALID',
    `Cannot change "${file}": ${isCommented(text) ? 'it has comments, which would be lost' : 'it is not a JSON object'}; use --print and add the lines yourself`,
    { file },
  )
}

/** CONFIG_INVALID where it cannot be read, or is not in the encoding that we would write. */
export function readText(file: string): string {
  const refuse = (why: string, cause?: unknown) =>
    new AppError(
      'CONFIG_INVALID',
      `Cannot change "${file}": ${why}; use --print and change it yourself`,
      { file },
      cause,
    )
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    throw refuse('it cannot be read', error)
  }
  const text = bytes.toString('utf8')
  if (Buffer.from(text).equals(bytes)) return text
  throw refuse('it is not UTF-8')
}

/** One that was ours alone; the target of a link is not ours, and only emptied. */
export function removeFile(file: string): void {
  if (lstatSync(file).isSymbolicLink()) writeText(file, '')
  else rmSync(file)
}

export function writeDocument(file: string, document: JsonObject): void {
  writeText(file, `${JSON.stringify(document, null, 2)}\n`)
}

/**
 * A reader sees the old text or the new one; a link stays a link, rights stay, a new file is for
 * its owner.
 */
export function writeText(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  const { path, mode } = existing(file)
  replaceFile(path, text, { mode })
}

function existing(file: string): { path: string; mode: number } {
  try {
    const path = realpathSync(file)
    return { path, mode: statSync(path).mode & 0o777 }
  } catch {
    return { path: file, mode: 0o600 }
  }
}

function isCommented(text: string): boolean {
  try {
    return isObject(parseJsonc(text))
  } catch {
    return false
  }
}
