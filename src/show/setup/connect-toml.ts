/**
 * Puts one table into a TOML file of another program and takes it out again, as text: everything
 * else stays as it is written.
 */
import { isDeepStrictEqual, isObject, type Json, type JsonObject } from '#model'
import { parseToml } from './init-toml.ts'

/**
 * The text with the table as given, or without it where that is null; null where nothing is left.
 * Throws where it is not understood.
 */
export function withTable(text: string, path: string, values: JsonObject | null): string | null {
  const rest = withoutTable(text, path)
  const after = values === null ? rest : appended(rest, tomlTable(path, values))
  if (after === text) return text
  checkSame(text, rest, after, path)
  return after === '' ? null : after
}

/**
 * At the end, after one empty line; a file without a last line end has none afterwards either, so
 * that it can be given back.
 */
function appended(rest: string, table: string): string {
  const end = rest.includes('\r\n') ? '\r\n' : '\n'
  const lines = table.replaceAll('\n', end)
  if (rest === '') return lines
  return rest.endsWith('\n') ? `${rest}${end}${lines}` : `${rest}${end}${end}${lines.slice(0, -end.length)}`
}

/**
 * It goes with those inside it, up to the next table; comments before that one stay. At the end of
 * the file the empty line goes too.
 */
function withoutTable(text: string, path: string): string {
  const keys = path.split('.').map((key) => `["']?${key}["']?`)
  const header = new RegExp(`^\\s*\\[\\s*${keys.join('\\s*\\.\\s*')}\\s*(?:\\.[^\\]]*)?\\]`)
  const kept: string[] = []
  let ours: string[] | null = null
  for (const line of text.split(/(?<=\n)/)) {
    if (/^\s*\[/.test(line)) {
      kept.push(...trailing(ours ?? []))
      ours = header.test(line) ? [] : null
    }
    if (ours === null) kept.push(line)
    else ours.push(line)
  }
  const after = trailing(ours ?? [])
  const rest = [...kept, ...after].join('')
  if (ours === null || after.length > 0) return rest
  return rest.replace(text.endsWith('\n') ? /\r?\n$/ : /\r?\n\r?\n$/, '')
}

/** The comments at the end of a table, which belong to what follows. */
function trailing(lines: readonly string[]): string[] {
  const last = lines.findLastIndex((line) => !/^\s*(?:#|$)/.test(line))
  const end = lines.slice(last + 1)
  return end.some((line) => line.includes('#')) ? end : []
}

/**
 * What has the table in another form, or only looks like it (inside a long string), is not touched.
 */
function checkSame(text: string, rest: string, after: string, path: string): void {
  const [was, left] = [parseToml(text), parseToml(rest)]
  parseToml(after)
  const [section = '', name = ''] = path.split('.')
  const others = (root: JsonObject) => {
    const { [name]: _, ...servers } = isObject(root[section]) ? (root[section] as JsonObject) : {}
    return { ...root, [section]: servers }
  }
  if (isObject(left[section]) && left[section][name] !== undefined) throw new Error(`it has "${name}" in another form`)
  if (!isDeepStrictEqual(others(was), others(left)))
    throw new Error(`what looks like "${name}" is part of something else`)
}

/** TOML of a table with strings and lists of strings. */
export function tomlTable(path: string, values: JsonObject): string {
  const lines = Object.entries(values).map(([key, value]) => `${key} = ${tomlValue(value)}`)
  return `[${path}]\n${lines.join('\n')}\n`
}

/** JSON's strings are TOML's, except that TOML wants the delete character escaped too. */
function tomlValue(value: Json): string {
  return Array.isArray(value)
    ? `[${value.map(tomlValue).join(', ')}]`
    : JSON.stringify(value).replaceAll('\x7f', '\\u007f')
}
