/** `connect` and `disconnect`: Métier as a server of another host, written into that host's own configuration. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AppError, isObject, type JsonObject } from '#model'
import { type Command, type Context, UsageError } from './command.ts'
import { readDocument, writeDocument, writeText } from './connect-file.ts'
import { type Entry, type Host, hosts, type Place, tomlTable } from './connect-hosts.ts'
import { exit } from './exit.ts'
import { parseToml } from './init-toml.ts'
import { faint, good, strong } from './paint.ts'

const connectable = hosts.filter(({ own }) => own !== null).map(({ name }) => name)
const toml = { path: 'mcp_servers.metier', header: /^\s*\[\s*mcp_servers\s*\.\s*"?metier"?\s*(?:\.[^\]]*)?\]/ }

export const connectCommands: Record<string, Command> = {
  connect: {
    group: 'Set up',
    usage: 'connect HOST [--http] [--print]',
    does: `let a host use Métier: ${connectable.join(', ')}`,
    options: { print: { type: 'boolean' }, http: { type: 'boolean' } },
    words: [0, 1],
    run: async (context) => change(context, (host) => host.written(ourEntry(context))),
  },
  disconnect: {
    group: 'Set up',
    usage: 'disconnect HOST [--print]',
    does: 'take that back',
    options: { print: { type: 'boolean' } },
    words: [0, 1],
    run: async (context) => change(context, () => null),
  },
}

/** `wanted` is our entry as the host writes it, or null for none. */
async function change(context: Context, wanted: (host: Host) => JsonObject | null): Promise<number> {
  const { words, options, surroundings, json, print } = context
  const host = hosts.find(({ name, own }) => name === words[0] && own !== null)
  if (host === undefined) {
    const wanted = words[0] === undefined ? 'which host?' : `there is no host "${words[0]}".`
    throw new UsageError(`${wanted} There are ${connectable.join(', ')}`)
  }
  const place: Place = { home: surroundings.home ?? '/', folder: process.cwd(), platform: process.platform }
  const file = host.own!(place)
  const entry = wanted(host)
  const next = host.format === 'toml' ? changedToml(file, entry) : changedJson(file, host, entry)
  const shown = options.print === true
  const written = !shown && next !== null
  if (written) next.write()
  if (json) print(JSON.stringify({ host: host.name, file, written, entry }))
  else if (shown) print(`${faint(`in ${file}`)}\n${entry === null ? 'without "metier"' : snippet(host, entry)}`)
  else if (entry === null)
    print(written ? `${good('✓')} ${host.name} is without Métier now` : `${host.name} does not know Métier`)
  else
    print(
      `${good('✓')} ${host.name} knows Métier ${written ? 'now' : 'already'}: ${strong(file)}; start it anew to see it`,
    )
  return exit.done
}

/** As the host will start us, from any folder, or as it will reach the gateway. */
function ourEntry({ config, options }: Context): Entry {
  const { host, port } = config.http
  if (options.http === true && config.http.auth !== 'none') {
    const message =
      "Cannot connect over HTTP: the gateway wants a token, which would stand in the host's file; connect without --http"
    throw new AppError('CONFIG_INVALID', message, { auth: config.http.auth })
  }
  if (options.http === true) return { type: 'http', url: `http://${host}:${port}/mcp`, headers: {} }
  const root = dirname(dirname(process.argv[1]!))
  const launcher = join(root, 'bin', 'metier')
  const installed = existsSync(launcher) && !/[\\/]_npx[\\/]/.test(root)
  const words = installed ? [launcher] : ['npx', '-y', 'metier']
  const where = [
    ...(config.file === null ? [] : ['--config', config.file]),
    ...(typeof options.home === 'string' ? ['--home', config.home] : []),
  ]
  return { command: words[0]!, args: [...words.slice(1), 'serve', '--stdio', ...where], env: {} }
}

/** Null where there is nothing to change. */
type Change = { write(): void } | null

function changedJson(file: string, host: Host, entry: JsonObject | null): Change {
  const [key] = host.keys('')[0]!
  const document = existsSync(file) ? readDocument(file) : {}
  const servers = isObject(document[key!]) ? (document[key!] as JsonObject) : {}
  const { metier: before, ...others } = servers
  if (JSON.stringify(before ?? null) === JSON.stringify(entry)) return null
  const next = { ...document, [key!]: entry === null ? others : { ...others, metier: entry } }
  return { write: () => writeDocument(file, next) }
}

function changedToml(file: string, entry: JsonObject | null): Change {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const rest = withoutOurs(before)
  const gap = rest === '' || rest.endsWith('\n\n') ? '' : rest.endsWith('\n') ? '\n' : '\n\n'
  const after = entry === null ? rest : `${rest}${gap}${tomlTable(toml.path, entry)}`
  if (after === before) return null
  refuseUnclear(file, rest, after)
  return { write: () => writeText(file, after) }
}

/** Our tables go, from their first line to the next table; comments before that one stay. */
function withoutOurs(text: string): string {
  const kept: string[] = []
  let ours: string[] | null = null
  for (const line of text.split(/(?<=\n)/)) {
    if (/^\s*\[/.test(line)) {
      kept.push(...trailing(ours ?? []))
      ours = toml.header.test(line) ? [] : null
    }
    if (ours === null) kept.push(line)
    else ours.push(line)
  }
  return [...kept, ...trailing(ours ?? [])].join('')
}

/** The comments at the end of a table, which belong to what follows. */
function trailing(lines: readonly string[]): string[] {
  const last = lines.findLastIndex((line) => !/^\s*(?:#|$)/.test(line))
  const end = lines.slice(last + 1)
  return end.some((line) => line.includes('#')) ? end : []
}

/** A file that we do not understand, or that has us in another form, is not touched. */
function refuseUnclear(file: string, rest: string, after: string): void {
  const fail = (why: string) =>
    new AppError('CONFIG_INVALID', `Cannot change "${file}": ${why}; use --print and change it yourself`, { file })
  try {
    const { mcp_servers: servers } = parseToml(rest)
    if (!isObject(servers) || servers.metier === undefined) return void parseToml(after)
  } catch (error) {
    throw fail(`it is not understood (${(error as Error).message})`)
  }
  throw fail('it has "metier" in another form')
}

function snippet(host: Host, entry: JsonObject): string {
  if (host.format === 'toml') return tomlTable(toml.path, entry).trimEnd()
  return JSON.stringify({ [host.keys('')[0]![0]!]: { metier: entry } }, null, 2)
}
