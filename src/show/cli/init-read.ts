/** Reads the servers that hosts have in their configurations, whatever their words for them, and never writes there. */
import { readFileSync } from 'node:fs'
import { AppError, isObject, type Json, type JsonObject, limits, parseConfig, parseJsonc } from '#model'
import { type Entry, type Host, hosts, isOurs, type Place } from './connect-hosts.ts'
import { parseToml } from './init-toml.ts'

/** `why` says what is against importing it. */
export type FoundServer = { host: string; file: string; name: string } & ({ entry: Entry } | { why: string })
export type FoundFile = { host: string; file: string; error?: string }

export function findServers(place: Place): { files: FoundFile[]; servers: FoundServer[] } {
  const files: FoundFile[] = []
  const servers: FoundServer[] = []
  for (const host of hosts) {
    for (const file of new Set(host.files(place))) {
      try {
        servers.push(...serversIn(host, file, place.folder))
        files.push({ host: host.name, file })
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (code !== 'ENOENT' && code !== 'ENOTDIR') files.push({ host: host.name, file, error: message })
      }
    }
  }
  return { files, servers }
}

function serversIn(host: Host, file: string, folder: string): FoundServer[] {
  const bytes = readFileSync(file)
  if (bytes.length > limits.foreignConfigBytesMax) throw new Error('it is too large')
  const text = textOf(bytes)
  if (text.trim() === '') return []
  const root = host.format === 'toml' ? parseToml(text) : parseJsonc(text)
  return host.keys(folder).flatMap((keys) => {
    const section = keys.reduce<Json | undefined>(
      (value, key) => (isObject(value) ? (value as JsonObject)[key] : undefined),
      root,
    )
    return Object.entries(isObject(section) ? section : {}).map(([name, value]): FoundServer => {
      return { host: host.name, file, name, ...judged(host, name, value) }
    })
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
  if (isObject(value) && (value.disabled === true || value.enabled === false))
    return { why: 'it is switched off there' }
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

/** Variables in the words of other hosts: a question to the person becomes a variable of the environment. */
function ours(text: string): string {
  return text
    .replace(/(?<!\$)\{env:(\w+)\}/g, '$${$1}')
    .replaceAll('${userHome}', '${HOME}')
    .replace(/\$\{input:([\w-]+)\}/g, (_, id: string) => `\${${id.replaceAll('-', '_').toUpperCase()}}`)
}
