/**
 * Puts one entry into a JSON file of another program and takes it out again, as text: everything
 * else stays as it is written, comments, commas and line ends included, and what was put in comes
 * out without a trace.
 */
import { isDeepStrictEqual, isObject, type Json, type JsonObject, parseJsonc } from '#model'

type Member = {
  key: string
  start: number
  value: number
  end: number /** Where its comma ends, if it has one. */
  comma: number | null
}
type Braces = { open: number; close: number; members: Member[] }

/**
 * The text with `section.name` as given, or without it where that is null; null where the file had
 * not existed. Throws where it is not understood.
 */
export function withEntry(text: string, section: string, name: string, entry: JsonObject | null): string | null {
  if (text.trim() === '') return entry === null ? text : fresh(section, name, entry)
  const before = parseJsonc(text)
  const known = isObject(before) ? before[section] : undefined
  if (!isObject(before) || (known !== undefined && !isObject(known)))
    throw new Error(`it is no object with a "${section}" that is one`)
  const old = isObject(known) ? known[name] : undefined
  if (isDeepStrictEqual(old ?? null, entry)) return text
  if (entry === null && text === fresh(section, name, old as JsonObject)) return null
  const after = edited(text, section, name, entry)
  const { [section]: servers, ...rest } = parseJsonc(after) as JsonObject
  const { [name]: now = null, ...others } = (servers ?? {}) as JsonObject
  const { [section]: _, ...same } = before as JsonObject
  const { [name]: __, ...kept } = (known ?? {}) as JsonObject
  if (isDeepStrictEqual([rest, now, others], [same, entry, kept])) return after
  throw new Error('it is not understood')
}

/**
 * The text without one member of the object that stands under these keys; the object stays, also if
 * nothing is left in it.
 */
export function withoutEntry(text: string, keys: readonly string[], name: string): string {
  let braces = bracesAt(text, skip(text, text.startsWith('\uFEFF') ? 1 : 0))
  for (const key of keys) {
    const within = braces.members.find((member) => member.key === key)
    if (within === undefined || text[within.value] !== '{') throw new Error(`it has no "${key}"`)
    braces = bracesAt(text, within.value)
  }
  const member = braces.members.find(({ key }) => key === name)
  if (member === undefined) throw new Error(`it has no "${name}"`)
  const after = removed(text, braces, member)
  const expected = structuredClone(parseJsonc(text)) as JsonObject
  const holder = keys.reduce((inner, key) => inner[key] as JsonObject, expected)
  delete holder[name]
  if (isDeepStrictEqual(parseJsonc(after), expected)) return after
  throw new Error('it is not understood')
}

/**
 * The text with a value under these keys, of which all but the first few may be missing; everything
 * else stays as it is written.
 */
export function withValue(text: string, path: readonly string[], value: Json): string {
  const before = parseJsonc(text)
  let braces = bracesAt(text, skip(text, text.startsWith('\uFEFF') ? 1 : 0))
  let after = text
  for (const [at, key] of path.entries()) {
    const rest = path.slice(at + 1).reduceRight<Json>((inner, name) => ({ [name]: inner }), value)
    const member = braces.members.find((candidate) => candidate.key === key)
    if (member === undefined) {
      after = added(text, braces, key, (indent) => shown(text, rest, indent))
      break
    }
    if (at === path.length - 1) after = spliced(text, member.value, member.end, JSON.stringify(value))
    else if (text[member.value] !== '{') throw new Error(`its "${key}" is no object`)
    else braces = bracesAt(text, member.value)
  }
  if (isDeepStrictEqual(parseJsonc(after), put(before, path, value))) return after
  throw new Error('it is not understood')
}

export function hasValue(text: string, path: readonly string[]): boolean {
  const found = path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), parseJsonc(text))
  return found !== undefined
}

function put(document: unknown, [key, ...rest]: readonly string[], value: Json): Json {
  if (key === undefined) return value
  const object = isObject(document) ? (document as JsonObject) : {}
  return { ...object, [key]: put(object[key], rest, value) }
}

/**
 * A file of ours alone: without a line end, by which it is told from one that another program
 * wrote.
 */
function fresh(section: string, name: string, entry: JsonObject): string {
  return JSON.stringify({ [section]: { [name]: entry } }, null, 2)
}

function edited(text: string, section: string, name: string, entry: JsonObject | null): string {
  const root = bracesAt(text, skip(text, text.startsWith('\uFEFF') ? 1 : 0))
  const within = root.members.find(({ key }) => key === section)
  if (within === undefined) {
    const alone = `{ ${JSON.stringify(name)}: ${JSON.stringify(entry)} }`
    return added(text, root, section, (indent) => (indent === null ? alone : shown(text, { [name]: entry }, indent)))
  }
  const servers = bracesAt(text, within.value)
  const member = servers.members.find(({ key }) => key === name)
  if (member === undefined) return added(text, servers, name, (indent) => shown(text, entry, indent))
  if (entry !== null) {
    const hasLines = text.slice(member.value, member.end).includes('\n')
    const indent = hasLines ? indentAt(text, member.start) : null
    return spliced(text, member.value, member.end, shown(text, entry, indent))
  }
  // Where the closing brace does not stand right behind it, the section is one that we had put
  // there too.
  const isOurs = servers.members.length === 1 && text[member.end] !== '}'
  return isOurs ? removed(text, root, within) : removed(text, servers, member)
}

/**
 * Behind the last member, on a line of its own where that has one; an empty object gets it right
 * before its closing brace. `textOf` is told how far the line is indented, null where there is
 * none.
 */
function added(
  text: string,
  { close, members }: Braces,
  key: string,
  textOf: (indent: string | null) => string,
): string {
  const last = members.at(-1)
  const indent = last === undefined ? null : indentAt(text, members[0]!.start)
  const line = `${JSON.stringify(key)}: ${textOf(indent)}`
  if (last === undefined) return spliced(text, close, close, line)
  const behind = last.comma ?? last.end
  // A comment may stand behind it, which may end only with its line.
  const end = indent === null ? behind : behind + text.slice(behind, close).trimEnd().length
  const lead = indent === null ? ' ' : `${lineEnd(text)}${indent}`
  const put = spliced(text, end, end, `${lead}${line}${last.comma === null ? '' : ','}`)
  return last.comma === null ? spliced(put, last.end, last.end, ',') : put
}

/**
 * With the white space before it; the comma before it goes where it is the last and has none of its
 * own.
 */
function removed(text: string, { members }: Braces, { start, end, comma }: Member): string {
  const at = members.findIndex((member) => member.start === start)
  const before = members[at - 1]
  const from = members.length === 1 && text[end] === '}' ? start : text.slice(0, start).trimEnd().length
  const cut = spliced(text, from, comma ?? end, '')
  return before === undefined || comma !== null ? cut : spliced(cut, before.comma! - 1, before.comma!, '')
}

/** On one line where `indent` is null, else indented as the file is. */
function shown(text: string, value: Json, indent: string | null): string {
  if (indent === null) return JSON.stringify(value)
  const unit = indent.includes('\t') ? '\t' : /\n( +)["}]/.exec(text)?.[1] || '  '
  return JSON.stringify(value, null, unit).replaceAll('\n', `${lineEnd(text)}${indent}`)
}

/** The white space that a line begins with; null where something else stands before it. */
function indentAt(text: string, at: number): string | null {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  return text.lastIndexOf('\n', at - 1) >= 0 && line.trim() === '' ? line : null
}

const lineEnd = (text: string) => (text.includes('\r\n') ? '\r\n' : '\n')
const spliced = (text: string, from: number, to: number, put: string) => text.slice(0, from) + put + text.slice(to)

/** The members of the object whose brace stands there; the text is known to be right. */
function bracesAt(text: string, open: number): Braces {
  const members: Member[] = []
  let at = skip(text, open + 1)
  while (text[at] !== '}') {
    const start = at
    const keyEnd = endOf(text, start)
    const value = skip(text, skip(text, keyEnd) + 1)
    const end = endOf(text, value)
    at = skip(text, end)
    const comma = text[at] === ',' ? at + 1 : null
    if (comma !== null) at = skip(text, comma)
    members.push({ key: JSON.parse(text.slice(start, keyEnd)), start, value, end, comma })
  }
  return { open, close: at, members }
}

/** Behind the value that begins there. */
function endOf(text: string, start: number): number {
  if (text[start] === '"') return start + /^"(?:[^"\\]|\\.)*"/s.exec(text.slice(start))![0].length
  if (text[start] !== '{' && text[start] !== '[') return start + /^[^\s,\]}/]+/.exec(text.slice(start))![0].length
  let depth = 0
  for (let at = start; ; at = skip(text, text[at] === '"' ? endOf(text, at) : at + 1)) {
    if (text[at] === '{' || text[at] === '[') depth++
    if ((text[at] === '}' || text[at] === ']') && --depth === 0) return at + 1
  }
}

/** Behind white space and comments. */
function skip(text: string, at: number): number {
  const blank = /(?:\s|\/\/[^\n]*|\/\*.*?\*\/)*/sy
  blank.lastIndex = at
  return at + blank.exec(text)![0].length
}
