/**
 * Reads the servers that hosts have in their configurations, whatever their words for them, and
 * never writes there.
 */
import { readFileSync } from 'node:fs'
import { AppError, isObject, type Json, limits, parseConfig, parseJsonc } from '#model'
import { type Entry, type Host, hosts, isOurs, type Place } from './connect-hosts.ts'
import { memberOf, type NamedServer, openSwitches } from './init-disabled.ts'
import { parseToml } from './init-toml.ts'

/** `why` says what is against importing it. */
export type FoundServer = { host: string; file: string; keys: string[]; name: string } & (
  | { entry: Entry }
  | { why: string }
)
type FoundFile = { host: string; file: string; error?: string }

export function findServers(place: Place): { files: FoundFile[]; servers: FoundServer[] } {
  const files: FoundFile[] = []
  const servers = hosts.flatMap((host) => {
    const roots = new Map<string, Json>()
    const read = (file: string): Json => {
      if (!roots.has(file)) roots.set(file, readOnce(host, file, files))
      return roots.get(file)!
    }
    const named = [...new Set(host.files(place))].flatMap((file) => serversIn(host, file, read(file), place.folder))
    const whyOff = openSwitches(host.name, place, named, read)
    return named.map(({ file, keys, name, value }): FoundServer => {
      const why = whyOff(name, file)
      return { host: host.name, file, keys, name, ...(why === null ? judged(host, name, value) : { why }) }
    })
  })
  return { files, servers }
}

/** Null where there is none, or none that can be understood, which is then said. */
function readOnce(host: Host, file: string, files: FoundFile[]): Json {
  try {
    const root = parsed(file, host.format)
    files.push({ host: host.name, file })
    return root
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR') files.push({ host: host.name, file, error: message })
    return null
  }
}

function parsed(file: string, format: Host['format']): Json {
  const bytes = readFileSync(file)
  if (bytes.length > limits.foreignConfigBytesMax) throw new Error('it is too large')
  const text = textOf(bytes)
  if (text.trim() === '') return null
  return format === 'toml' ? parseToml(text) : parseJsonc(text)
}

function serversIn(host: Host, file: string, root: Json, folder: string): NamedServer[] {
  return host.keys(folder).flatMap((keys) => {
    const section = memberOf(root, ...keys)
    return Object.entries(isObject(section) ? section : {}).map(([name, value]) => ({ file, keys, name, value }))
  })
}

/** Windows PowerShell writes two bytes for each character, and says so at the start. */
function textOf(bytes: Buffer): string {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe
  return bytes.toString(isWide ? 'utf16le' : 'utf8').replace(/^\uFEFF/, '')
}

function judged(host: Host, name: string, value: unknown): { entry: Entry } | { why: string } {
  const entry = isObject(value) ? toEntry(host, value) : null
  if (entry === null) return { why: 'it names neither a command nor an address' }
  if (isOurs(name, entry)) return { why: 'it is Métier itself' }
  const problem = problemOf(entry)
  return problem === null ? { entry } : { why: problem }
}

/** What we could not read from our own file, we do not write there. */
function problemOf(entry: Entry): string | null {
  const text = JSON.stringify({ mcpServers: { it: entry } })
  try {
    parseConfig({ file: null, text, home: '', env: {}, directory: '' })
    return null
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const [{ path, expected } = { path: '', expected: '' }] = error.context.problems as {
      path: string
      expected: string
    }[]
    return `its ${path.split('/').at(-1)} is not ${expected}`
  }
}

/** The words differ from host to host: `httpUrl`, `environment`, a command as a list. */
function toEntry(host: Host, value: Record<string, unknown>): Entry | null {
  const {
    type,
    command,
    args,
    env,
    environment,
    cwd,
    url,
    httpUrl,
    serverUrl,
    headers,
    http_headers: httpHeaders,
  } = value
  const say = (text: string) => ours(host.hasBareVariables ? text.replace(/\$([A-Za-z_]\w*)/g, '$${$1}') : text)
  const address = [httpUrl, url, serverUrl].find((each) => typeof each === 'string')
  if (address !== undefined) {
    const bearer = typeof value.bearer_token_env_var === 'string' ? value.bearer_token_env_var : null
    const authorization = bearer === null ? {} : { Authorization: `Bearer \${${bearer}}` }
    const named = Object.entries(texts(value.env_http_headers, say)).map(([header, variable]) => [
      header,
      `\${${variable}}`,
    ])
    return {
      type: (type ?? (httpUrl === undefined ? host.address : 'http')) === 'sse' ? 'sse' : 'http',
      url: say(address as string),
      headers: { ...authorization, ...Object.fromEntries(named), ...texts(headers ?? httpHeaders, say) },
    }
  }
  const words = (Array.isArray(command) ? command : [command, ...(Array.isArray(args) ? args : [])]).map(String)
  if (command === undefined || words[0] === undefined || words[0] === '') return null
  return {
    command: say(words[0]),
    args: words.slice(1).map(say),
    env: { ...passed(value.env_vars), ...texts(env ?? environment, say) },
    ...(typeof cwd === 'string' ? { cwd: say(cwd) } : {}),
  }
}

/** Variables that a host hands on as they are. */
function passed(names: unknown): Record<string, string> {
  const list = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
  return Object.fromEntries(list.map((name) => [name, `\${${name}}`]))
}

function texts(value: unknown, say: (text: string) => string): Record<string, string> {
  const entries = Object.entries(isObject(value) ? value : {}).filter(([, text]) => text !== null)
  return Object.fromEntries(entries.map(([key, text]) => [key, say(String(text))]))
}

/**
 * Variables in the words of other hosts: a question to the person becomes a variable of the
 * environment.
 */
function ours(text: string): string {
  return text
    .replace(/(?<!\$)\{env:(\w+)\}/g, '$${$1}')
    .replaceAll('${userHome}', '${HOME}')
    .replace(/\$\{input:([\w-]+)\}/g, (_, id: string) => `\${${id.replaceAll('-', '_').toUpperCase()}}`)
}
