/**
 * JSON as people write it, with comments and trailing commas; an error names the place and never
 * quotes the text, which may hold secrets.
 */

import { limits } from '#model/limits'
import type { Json, JsonObject } from '#model/primitives'

export class JsoncError extends Error {
  readonly line: number
  readonly column: number

  constructor(text: string, at: number, expected: string) {
    const before = text.slice(0, at).split('\n')
    super(`${expected}, at line ${before.length}, column ${before.at(-1)!.length + 1}`)
    this.line = before.length
    this.column = before.at(-1)!.length + 1
  }
}

type Cursor = { text: string; at: number; depth: number }

export function parseJsonc(text: string): Json {
  const cursor: Cursor = { text, at: text.startsWith('\uFEFF') ? 1 : 0, depth: 0 }
  const value = readValue(cursor)
  skipBlanks(cursor)
  if (cursor.at < text.length) throw new JsoncError(text, cursor.at, 'expected the end of the file')
  return value
}

function readValue(cursor: Cursor): Json {
  skipBlanks(cursor)
  const character = cursor.text[cursor.at]
  if (character === '{') return nested(cursor, readObject)
  if (character === '[') return nested(cursor, readList)
  if (character === '"') return readString(cursor)
  return readWord(cursor)
}

function nested<Value>(cursor: Cursor, read: (cursor: Cursor) => Value): Value {
  cursor.depth++
  if (cursor.depth > limits.configDepthMax) throw new JsoncError(cursor.text, cursor.at, 'expected fewer nested values')
  cursor.at++
  const value = read(cursor)
  cursor.depth--
  return value
}

function readObject(cursor: Cursor): JsonObject {
  const members = new Map<string, Json>()
  while (!taken(cursor, '}')) {
    if (cursor.text[cursor.at] !== '"')
      throw new JsoncError(cursor.text, cursor.at, 'expected a key in double quotes or "}"')
    const start = cursor.at
    const key = readString(cursor)
    if (members.has(key)) throw new JsoncError(cursor.text, start, 'expected each key once, found one twice')
    if (!taken(cursor, ':')) throw new JsoncError(cursor.text, cursor.at, 'expected ":"')
    members.set(key, readValue(cursor))
    if (taken(cursor, '}')) break
    if (!taken(cursor, ',')) throw new JsoncError(cursor.text, cursor.at, 'expected "," or "}"')
  }
  // fromEntries defines its keys, so that "__proto__" is a key like any other.
  return Object.fromEntries(members)
}

function readList(cursor: Cursor): Json[] {
  const items: Json[] = []
  while (!taken(cursor, ']')) {
    items.push(readValue(cursor))
    if (taken(cursor, ']')) break
    if (!taken(cursor, ',')) throw new JsoncError(cursor.text, cursor.at, 'expected "," or "]"')
  }
  return items
}

function readString(cursor: Cursor): string {
  const start = cursor.at
  const quoted = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y
  quoted.lastIndex = start
  const match = quoted.exec(cursor.text)
  if (match === null) throw new JsoncError(cursor.text, start, 'expected a well-formed string')
  cursor.at += match[0].length
  return JSON.parse(match[0])
}

/** A number, true, false or null. */
function readWord(cursor: Cursor): Json {
  const word = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
  word.lastIndex = cursor.at
  const match = word.exec(cursor.text)
  if (match === null) throw new JsoncError(cursor.text, cursor.at, 'expected a value')
  cursor.at += match[0].length
  return JSON.parse(match[0])
}

function taken(cursor: Cursor, character: string): boolean {
  skipBlanks(cursor)
  if (cursor.text[cursor.at] !== character) return false
  cursor.at++
  return true
}

function skipBlanks(cursor: Cursor): void {
  const blanks = /(?:[ \t\r\n]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y
  blanks.lastIndex = cursor.at
  cursor.at += blanks.exec(cursor.text)![0].length
}
