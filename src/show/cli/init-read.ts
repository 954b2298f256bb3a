/** Reads the servers that hosts have in their configurations, whatever their words for them, and never writes there. */
import { readFileSync } from 'node:fs'
import { isObject, type Json, type JsonObject, limits, parseJsonc } from '#model'
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
  const text = readFileSync(file, 'utf8')
  if (text.length > limits.foreignConfigBytesMax) throw new Error('it is too large')
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

function judged(host: Host, name: string, value: unknown): { entry: Entry } | { why: string } {
  const entry = isObject(value) ? toEntry(host, value) : null
  if (entry === null) return { why: 'it names neither a command nor an address' }
  if (isObject(value) && (value.disabled === true || value.enabled === false))
    return { why: 'it is switched off there' }
  return isOurs(name, entry) ? { why: 'it is Métier itself' } : { entry }
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
  const address = [httpUrl, url, serverUrl].find((each) => typeof each === 'string')
  if (address !== undefined) {
    const bearer = typeof value.bearer_token_env_var === 'string' ? value.bearer_token_env_var : null
    const authorization = bearer === null ? {} : { Authorization: `Bearer \${${bearer}}` }
    return {
      type: (type ?? (httpUrl === undefined ? host.address : 'http')) === 'sse' ? 'sse' : 'http',
      url: ours(address as string),
      headers: { ...authorization, ...texts(headers ?? httpHeaders) },
    }
  }
  const words = (Array.isArray(command) ? command : [command, ...(Array.isArray(args) ? args : [])]).map(String)
  if (command === undefined || words[0] === undefined || words[0] === '') return null
  return {
    command: ours(words[0]),
    args: words.slice(1).map(ours),
    env: texts(env ?? environment),
    ...(typeof cwd === 'string' ? { cwd: ours(cwd) } : {}),
  }
}

function texts(value: unknown): Record<string, string> {
  const entries = Object.entries(isObject(value) ? value : {})
  return Object.fromEntries(entries.map(([key, text]) => [key, ours(String(text))]))
}

/** Variables in the words of other hosts: a question to the person becomes a variable of the environment. */
function ours(text: string): string {
  return text
    .replace(/(?<!\$)\{env:(\w+)\}/g, '$${$1}')
    .replaceAll('${userHome}', '${HOME}')
    .replace(/\$\{input:([\w-]+)\}/g, (_, id: string) => `\${${id.replaceAll('-', '_').toUpperCase()}}`)
}
