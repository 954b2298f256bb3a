/**
 * `connect` and `disconnect`: Métier as a server of another host, written into that host's own
 * configuration.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AppError, type JsonObject } from '#model'
import { bad, type Command, type Context, exit, faint, good, strong, UsageError } from '#show/cli'
import { readText, removeFile, writeText } from './connect-file.ts'
import { type Entry, type Host, hosts, placeOf } from './connect-hosts.ts'
import { withEntry } from './connect-json.ts'
import { tomlTable, withTable } from './connect-toml.ts'
import { moveBack } from './move-servers.ts'

const connectable = hosts.filter(({ own }) => own !== null).map(({ name }) => name)
const tableName = 'mcp_servers.metier'

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
    does: 'take that back, and give the host the servers that init --move took out',
    options: { print: { type: 'boolean' } },
    words: [0, 1],
    run: async (context) => change(context, () => null, true),
  },
}

/** `wanted` is our entry as the host writes it, or null for none. */
async function change(context: Context, wanted: (host: Host) => JsonObject | null, isBack = false): Promise<number> {
  const { words, options, json, print } = context
  const host = hosts.find(({ name, own }) => name === words[0] && (own !== null || isBack))
  if (host === undefined) {
    const wanted = words[0] === undefined ? 'which host?' : `there is no host "${words[0]}".`
    throw new UsageError(`${wanted} There are ${connectable.join(', ')}`)
  }
  const file = host.own?.(placeOf(context)) ?? null
  const entry = wanted(host)
  const next = file === null ? null : changed(file, host, entry)
  const shown = options.print === true
  const written = !shown && next !== null
  if (written) next.write()
  const files = isBack ? [...new Set(host.files(placeOf(context)))] : []
  const back = files.flatMap((one) => moveBack(host, one, !shown) ?? [])
  for (const { servers, file: one, error } of back)
    context.note(error === undefined ? `${good('←')} ${servers.join(', ')} → ${one}` : `${bad('✗')} ${one}: ${error}`)
  if (json) print(JSON.stringify({ host: host.name, file, written, entry, ...(isBack && { back }) }))
  else if (shown) print(`${faint(`in ${file}`)}\n${entry === null ? 'without "metier"' : snippet(host, entry)}`)
  else if (entry === null)
    print(written ? `${good('✓')} ${host.name} is without Métier now` : `${host.name} does not know Métier`)
  else
    print(
      `${good('✓')} ${host.name} knows Métier ${written ? 'now' : 'already'}: ${strong(file ?? '')}; start it anew to see it`,
    )
  return back.some(({ error }) => error !== undefined) ? exit.failed : exit.done
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

function changed(file: string, host: Host, entry: JsonObject | null): Change {
  const before = existsSync(file) ? readText(file) : ''
  const [section] = host.keys('')[0]!
  const after = understood(file, () =>
    host.format === 'toml' ? withTable(before, tableName, entry) : withEntry(before, section!, 'metier', entry),
  )
  if (after === before) return null
  return { write: () => (after === null ? removeFile(file) : writeText(file, after)) }
}

/** A file that we do not understand is not touched. */
function understood<Value>(file: string, work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    const why = `it is not understood (${(error as Error).message})`
    throw new AppError('CONFIG_INVALID', `Cannot change "${file}": ${why}; use --print and change it yourself`, {
      file,
    })
  }
}

function snippet(host: Host, entry: JsonObject): string {
  if (host.format === 'toml') return tomlTable(tableName, entry).trimEnd()
  return JSON.stringify({ [host.keys('')[0]![0]!]: { metier: entry } }, null, 2)
}
