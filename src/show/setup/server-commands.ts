/**
 * `add` and `remove`: one server in our own configuration, written as text, so that comments and
 * layout stay.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError, isObject, type JsonObject, nearNames, parseConfig, parseJsonc } from '#model'
import { type Command, type Context, exit, faint, good, type Options, strong, UsageError, warn } from '#show/cli'
import { readText, writeText } from './connect-file.ts'
import { isOurs } from './connect-hosts.ts'
import { withEntry } from './connect-json.ts'
import { proposeBox } from './propose-box.ts'

export const serverCommands: Record<string, Command> = {
  add: {
    group: 'Set up',
    usage:
      'add NAME [--env N=V…] [--cwd DIR] [--sandbox] [--folder D…] [--write D…] [--host H…] [--print] -- COMMAND [ARG…]\n  add NAME --url U [--header "N: V"…] [--print]',
    does: 'put a server into the configuration',
    options: {
      url: { type: 'string' },
      header: { type: 'string', multiple: true },
      env: { type: 'string', multiple: true },
      cwd: { type: 'string' },
      sandbox: { type: 'boolean' },
      folder: { type: 'string', multiple: true },
      write: { type: 'string', multiple: true },
      host: { type: 'string', multiple: true },
      print: { type: 'boolean' },
    },
    unconfigured: true,
    words: [1, 1000],
    run: async (context) => {
      const [name, ...command] = context.words as [string, ...string[]]
      return change(context, name, entryOf(command, context.options))
    },
  },
  remove: {
    group: 'Set up',
    usage: 'remove NAME [--print]',
    does: 'take a server out of the configuration',
    options: { print: { type: 'boolean' } },
    unconfigured: true,
    words: [1, 1],
    run: async (context) => change(context, context.words[0]!, null),
  },
}

function entryOf([command, ...args]: string[], options: Options): JsonObject {
  const { url, cwd } = options
  if ((command === undefined) === (url === undefined))
    throw new UsageError('a server is a command after "--", or an address after --url: give one of them')
  const env = pairsOf(options.env, '=', '--env NAME=VALUE')
  const headers = pairsOf(options.header, ':', '--header "NAME: VALUE"')
  if (url !== undefined) {
    if (cwd !== undefined || Object.keys(env).length > 0) throw new UsageError('--env and --cwd are for a command')
    return { type: 'http', url: url as string, ...(Object.keys(headers).length > 0 && { headers }) }
  }
  if (Object.keys(headers).length > 0) throw new UsageError('--header is for an address')
  return {
    command: command!,
    ...(args.length > 0 && { args }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(cwd !== undefined && { cwd: cwd as string }),
    ...boxOf({ command: command!, args, env }, options),
  }
}

/** What the options name goes beside what the server is known to need. */
function boxOf(server: JsonObject, options: Options): { sandbox?: JsonObject } {
  const named = (name: 'folder' | 'write' | 'host') => (options[name] ?? []) as string[]
  const isAsked = options.sandbox === true || named('folder').length + named('write').length + named('host').length > 0
  if (!isAsked) return {}
  const known = proposeBox(server)
  const write = [...new Set([...((known?.write ?? []) as string[]), ...named('write')])]
  return { sandbox: { tier: 'os', folders: named('folder'), write, hosts: named('host') } }
}

function proposal(name: string, entry: JsonObject): string | null {
  const box = entry.sandbox === undefined ? proposeBox(entry) : null
  if (box === null) return null
  const words = `add "--sandbox" to this command and it runs in a box that holds it to that: ${JSON.stringify(box)}`
  return `${name} runs unconfined, and is known to need no more than its own folders: ${words}`
}

function pairsOf(given: Options[string], between: string, form: string): Record<string, string> {
  return Object.fromEntries(
    ((given ?? []) as string[]).map((text) => {
      const at = text.indexOf(between)
      if (at < 1) throw new UsageError(`${form}, not "${text.split(between)[0]}"`)
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
    }),
  )
}

/**
 * `entry` null takes the server out. The new text is written only if it is a configuration that can
 * be read.
 */
async function change(context: Context, name: string, entry: JsonObject | null): Promise<number> {
  const { options, json, print, note, config } = context
  const file = target(context)
  const before = existsSync(file) ? readText(file) : null
  const servers = serversIn(file, before)
  checkName(name, entry, servers, file)
  const section = sectionOf(servers, name)
  const after = edited(file, before ?? '', section, name, entry)
  checkConfig(file, after)
  const isShown = options.print === true
  const isSame = after === before
  if (!isShown && !isSame) writeText(file, after)
  if (json) print(JSON.stringify({ server: name, file, written: !isShown && !isSame, entry }))
  else if (isShown) print(`${faint(`in ${file}`)}\n${after.trimEnd()}`)
  else if (entry === null) print(`${good('✓')} ${name} is no longer in ${strong(file)}`)
  else {
    print(`${good('✓')} ${strong(file)} has ${name}${isSame ? ' already' : ''}`)
    note(faint(`Next: "metier tools ${name}" starts it and lists its tools.`))
    const better = proposal(name, entry)
    if (better !== null) note(warn(better))
  }
  if (before === null && !isShown && config.file !== null && config.file !== file)
    note(warn(`${config.file} is not read beside ${file}: "metier init" copies the servers that it has`))
  return exit.done
}

/** Our own file: one that another host writes too is left to that host. */
export function target({ config, options }: Context): string {
  if (typeof options.config === 'string') return resolve(options.config)
  if (config.file === null) return join(process.cwd(), 'metier.json')
  return basename(config.file) === '.mcp.json' ? join(dirname(config.file), 'metier.json') : config.file
}

type Sections = Record<'mcpServers' | 'servers', JsonObject | null>

function serversIn(file: string, text: string | null): Sections {
  const root = text === null || text.trim() === '' ? {} : parsed(file, text)
  const section = (key: string) => (isObject(root[key]) ? (root[key] as JsonObject) : null)
  return { mcpServers: section('mcpServers'), servers: section('servers') }
}

function parsed(file: string, text: string): JsonObject {
  try {
    const root = parseJsonc(text)
    if (isObject(root)) return root as JsonObject
  } catch (error) {
    throw new AppError('CONFIG_INVALID', `Cannot change "${file}": ${(error as Error).message}`, { file }, error)
  }
  throw new AppError('CONFIG_INVALID', `Cannot change "${file}": it is not a JSON object`, { file })
}

function sectionOf({ mcpServers, servers }: Sections, name: string): 'mcpServers' | 'servers' {
  if (servers !== null && Object.hasOwn(servers, name)) return 'servers'
  return mcpServers === null && servers !== null ? 'servers' : 'mcpServers'
}

function checkName(name: string, entry: JsonObject | null, { mcpServers, servers }: Sections, file: string): void {
  const known = { ...servers, ...mcpServers }
  const has = Object.hasOwn(known, name)
  const refuse = (state: string) =>
    new AppError('CONFIG_INVALID', `Cannot ${entry === null ? 'remove' : 'add'} "${name}": ${state}`, { server: name })
  if (entry === null && !has) {
    const near = nearNames(name, Object.keys(known))
    const there =
      near.length > 0 ? `did you mean ${near.join(' or ')}?` : `it has ${Object.keys(known).join(', ') || 'none'}`
    throw refuse(`${file} has no such server; ${there}`)
  }
  if (entry === null) return
  if (has && JSON.stringify(known[name]) !== JSON.stringify(entry))
    throw refuse(`${file} has a server of that name; "metier remove ${name}" takes it out, or change it there`)
  if (isOurs(name, { args: [], ...entry } as never))
    throw refuse('it is Métier itself, which would start itself without end')
}

function edited(file: string, text: string, section: string, name: string, entry: JsonObject | null): string {
  const isFresh = [`{}`, JSON.stringify({ [section]: {} }, null, 2), ''].includes(text.trim())
  if (isFresh && entry !== null) return `${JSON.stringify({ [section]: { [name]: entry } }, null, 2)}\n`
  try {
    const after = withEntry(text, section, name, entry)
    // A file in which nothing else stood stays a file.
    return after ?? `${JSON.stringify({ [section]: {} }, null, 2)}\n`
  } catch (error) {
    const why = `it is not understood (${(error as Error).message})`
    throw new AppError('CONFIG_INVALID', `Cannot change "${file}": ${why}; use --print and change it yourself`, {
      file,
    })
  }
}

/** Variables need not be set here: they may be where the gateway runs. */
function checkConfig(file: string, text: string): void {
  parseConfig({ file, text, home: '', env: {}, directory: dirname(file) })
}
