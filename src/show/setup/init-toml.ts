/**
 * Reads of a TOML file what `init` needs: tables with strings, lists, inline tables and plain
 * values; of the rest only where it ends.
 */
import type { Json, JsonObject } from '#model'

type Cursor = { text: string; at: number }

/** Throws where the text is not understood. */
export function parseToml(text: string): JsonObject {
  const cursor = { text, at: 0 }
  const root = emptyTable()
  let table = root
  for (skipBlank(cursor, true); cursor.at < text.length; skipBlank(cursor, true)) {
    if (take(cursor, '[[')) {
      table = emptyTable()
      readPath(cursor)
      expect(cursor, ']]')
    } else if (take(cursor, '[')) {
      table = readPath(cursor).reduce(inner, root)
      expect(cursor, ']')
    } else readPair(cursor, table)
    endLine(cursor)
  }
  return root
}

/** Without a prototype, so that every key is only a key. */
function emptyTable(): JsonObject {
  return Object.create(null) as JsonObject
}

function inner(table: JsonObject, key: string): JsonObject {
  const member = table[key]
  if (typeof member === 'object' && member !== null && !Array.isArray(member)) return member
  if (member !== undefined) throw new Error(`"${key}" is no table`)
  const made = emptyTable()
  table[key] = made
  return made
}

function readPair(cursor: Cursor, table: JsonObject): void {
  const path = readPath(cursor)
  expect(cursor, '=')
  skipBlank(cursor)
  path.slice(0, -1).reduce(inner, table)[path.at(-1)!] = readValue(cursor)
}

function readPath(cursor: Cursor): string[] {
  const path: string[] = []
  do {
    skipBlank(cursor)
    const quoted = cursor.text[cursor.at] === '"' || cursor.text[cursor.at] === "'"
    path.push(quoted ? readString(cursor) : match(cursor, /[A-Za-z0-9_-]+/y, 'a key'))
    skipBlank(cursor)
  } while (take(cursor, '.'))
  return path
}

function readValue(cursor: Cursor): Json {
  const character = cursor.text[cursor.at]
  if (character === '"' || character === "'") return readString(cursor)
  if (take(cursor, '[')) return readList(cursor)
  if (take(cursor, '{')) return readInline(cursor)
  const word = match(cursor, /[^\s,\]}#]+/y, 'a value')
  if (word === 'true' || word === 'false') return word === 'true'
  const number = Number(word.replaceAll('_', ''))
  return Number.isNaN(number) ? word : number
}

function readList(cursor: Cursor): Json[] {
  const list: Json[] = []
  for (skipBlank(cursor, true); !take(cursor, ']'); skipBlank(cursor, true)) {
    list.push(readValue(cursor))
    skipBlank(cursor, true)
    if (!take(cursor, ',') && cursor.text[cursor.at] !== ']') throw new Error('expected , or ]')
  }
  return list
}

function readInline(cursor: Cursor): JsonObject {
  const table = emptyTable()
  for (skipBlank(cursor, true); !take(cursor, '}'); skipBlank(cursor, true)) {
    readPair(cursor, table)
    skipBlank(cursor, true)
    if (!take(cursor, ',') && cursor.text[cursor.at] !== '}') throw new Error('expected , or }')
  }
  return table
}

function readString(cursor: Cursor): string {
  const quote = cursor.text[cursor.at]!
  const long = cursor.text.startsWith(quote.repeat(3), cursor.at)
  const end = long ? quote.repeat(3) : quote
  cursor.at += end.length
  const escapes = quote === '"'
  let text = ''
  while (!cursor.text.startsWith(end, cursor.at)) {
    if (cursor.at >= cursor.text.length) throw new Error('a string has no end')
    text += escapes && take(cursor, '\\') ? readEscape(cursor) : cursor.text[cursor.at++]
  }
  cursor.at += end.length
  return long ? text.replace(/^\r?\n/, '') : text
}

const escapes: Record<string, string> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\x1b', '"': '"', '\\': '\\' }

function readEscape(cursor: Cursor): string {
  const letter = cursor.text[cursor.at++] ?? ''
  if (/\s/.test(letter)) {
    match(cursor, /\s*/y, 'white space')
    return ''
  }
  const digits = { x: 2, u: 4, U: 8 }[letter]
  if (digits === undefined) return escapes[letter] ?? letter
  const code = cursor.text.slice(cursor.at, cursor.at + digits)
  cursor.at += digits
  return String.fromCodePoint(Number.parseInt(code, 16))
}

function skipBlank(cursor: Cursor, lines = false): void {
  match(cursor, lines ? /(?:\s|#[^\n]*)*/y : /[ \t]*/y, 'white space')
}

function endLine(cursor: Cursor): void {
  match(cursor, /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y, 'the end of the line')
}

function take(cursor: Cursor, token: string): boolean {
  if (!cursor.text.startsWith(token, cursor.at)) return false
  cursor.at += token.length
  return true
}

function expect(cursor: Cursor, token: string): void {
  skipBlank(cursor)
  if (!take(cursor, token)) throw new Error(`expected ${token}`)
}

function match(cursor: Cursor, pattern: RegExp, what: string): string {
  pattern.lastIndex = cursor.at
  const found = pattern.exec(cursor.text)
  if (found === null) throw new Error(`expected ${what}`)
  cursor.at += found[0].length
  return found[0]
}
