/** Commands that set up, serve and explain. */

import { join } from 'node:path'
import { boxWords } from '#catalog'
import type { HttpDoor } from '#gateway'
import { AppError, type Config, type IsolationReport, isWeaker, limits, splitToolId, toAppError, visible } from '#model'
import { openBoxes, openScriptBoxes } from '#sandbox'
import { type Command, type Context, numberOption } from './command.ts'
import { effectsDetail } from './effects-detail.ts'
import { exit } from './exit.ts'
import { bad, faint, good, strong, warn } from './paint.ts'
import { tellQuestions } from './tell-questions.ts'
import { watchConfig } from './watch-config.ts'

export const systemCommands: Record<string, Command> = {
  serve: {
    group: 'Set up',
    usage: 'serve [--stdio] [--port N] [--host H] [--passthrough SERVER] [--no-resume]',
    does: 'the gateway: MCP for your agent',
    options: {
      stdio: { type: 'boolean' },
      port: { type: 'string' },
      host: { type: 'string' },
      passthrough: { type: 'string' },
      'no-resume': { type: 'boolean' },
    },
    words: [0, 0],
    run: (context) => (context.options.stdio === true ? stdio(context) : http(context)),
  },
  doctor: {
    group: 'Set up',
    usage: 'doctor',
    does: 'check this machine, the configuration, the servers and the record',
    diagnoses: true,
    looks: true,
    words: [0, 0],
    run: async (context) => {
      const checks = await examine(context)
      const ok = checks.every((check) => check.ok)
      if (context.json) context.print(JSON.stringify({ ok, checks }))
      else
        for (const { name, ok, detail, fix } of checks)
          context.print(`${markOf(ok, fix)} ${name}: ${detail}${fix === undefined ? '' : `\n    ${fix}`}`)
      if (context.configFault !== null) return exit.configuration
      return ok ? exit.done : exit.failed
    },
  },
}

async function stdio(context: Context): Promise<number> {
  const { version, signal, config } = context
  const { executes: executesPerMinute } = config.http.rate
  const { serveStdio } = await import('#gateway')
  const verbs = await context.verbs()
  const name = passthroughOf(context)
  const passthrough = name === undefined ? {} : { passthrough: { name, catalog: verbs.catalog } }
  if (name === undefined) verbs.catalog.warmUp()
  const served = await serveStdio({ verbs, version, home: config.home, executesPerMinute, ...passthrough })
  const watch = watchConfig(context, verbs)
  const hush = tellQuestions(context, verbs, watch.config)
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  await Promise.race([served.closed, stopped])
  watch.stop()
  hush()
  await served.close()
  return exit.done
}

/** The server that stands whole in place of the surface. */
function passthroughOf({ options, config }: Context): string | undefined {
  const { passthrough: name } = options
  if (typeof name !== 'string' || Object.hasOwn(config.servers, name)) return name as string | undefined
  const details = `the configuration has ${Object.keys(config.servers).join(', ') || 'no server'}`
  throw new AppError('CONFIG_INVALID', `Cannot pass "${name}" through: ${details}`, { server: name })
}

async function http(context: Context): Promise<number> {
  const { config, options, version, note } = context
  const host = typeof options.host === 'string' ? options.host : config.http.host
  const port = numberOption(options, 'port', 0, 65_535) ?? config.http.port
  const verbs = await context.verbs()
  const { serveHttp } = await import('#gateway')
  const { home, http: door } = config
  const passthrough = passthroughOf(context)
  if (passthrough === undefined) verbs.catalog.warmUp()
  const behind = { verbs, catalog: verbs.catalog, ...(passthrough !== undefined && { passthrough }) }
  const served = await serveHttp({ ...door, ...behind, host, port, version, home, log: note })
  try {
    await tell(context, served)
    await untilStopped(context, door.url ?? served.url)
    note('Stopping …')
    await verbs.letGo()
    return exit.done
  } finally {
    // Also where it could not begin: a door that stays open would answer for a gateway that can do nothing.
    await served.close()
  }
}

/** Announces the gateway, purges what is too old once a day, and takes the announcement back at the signal. */
async function untilStopped(context: Context, url: string): Promise<void> {
  const { options, signal } = context
  const verbs = await context.verbs()
  const leave = verbs.serveAt(url, options['no-resume'] !== true)
  const watch = watchConfig(context, verbs)
  const hush = tellQuestions(context, verbs, watch.config)
  const daily = setInterval(() => void forget(context, watch.config()), dayMs)
  try {
    await forget(context, watch.config())
    await new Promise<void>((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
    )
  } finally {
    clearInterval(daily)
    hush()
    watch.stop()
    leave()
  }
}

/** At the terminal where it is and what it needs; to a program the same as one document. */
async function tell({ config, verbs, json, print, note }: Context, { url, token }: HttpDoor): Promise<void> {
  const { home, http: door, expose } = config
  const servers = Object.keys(config.servers)
  const at = door.url ?? url
  const isolation = await (await verbs()).isolation()
  const { tokenFile } = await import('#gateway')
  const answer = `${at}/approvals?token=${token}`
  note(welcome(at, home, isolation, servers.length))
  const unread = unreadOurs(config)
  if (unread.length > 0) note(`  unread   ${unread.join(', ')}: there is no such setting`)
  if (config.unsetVariables.length > 0) note(`  not set  ${config.unsetVariables.join(', ')}, which servers are to get`)
  const lost = expose.filter((id) => !servers.includes(splitToolId(id)!.server))
  if (lost.length > 0) note(`  expose   ${lost.join(', ')}: the configuration has no such server`)
  if (door.auth === 'token') note(`  token    every request needs "Authorization: Bearer …", as in ${tokenFile(home)}`)
  if (door.auth === 'oauth')
    note(`  oauth    every request needs a token of ${door.issuer} for ${door.audience ?? `${at}/mcp`}`)
  note(`  answer   ${answer}`)
  if (json) print(JSON.stringify({ url: at, mcp: `${at}/mcp`, home, isolation, servers, answer }))
}

const dayMs = 24 * 60 * 60 * 1000

/** Finished runs older than the configuration keeps them are purged whole; their heads stay. */
async function forget({ verbs, note }: Context, { record: { retentionDays } }: Config): Promise<void> {
  if (retentionDays === null) return
  const purged = await (await verbs()).store.expire(retentionDays, { who: 'retention', from: 'engine' })
  if (purged.length > 0) note(`Purged ${purged.length} runs older than ${retentionDays} days.`)
}

function welcome(url: string, home: string, { tier, layers, degraded }: IsolationReport, servers: number): string {
  const lines = [
    `${strong('Métier')} serves MCP at ${strong(`${url}/mcp`)}`,
    `  home     ${home}`,
    `  sandbox  ${tier} (${layers.join(' in ')})`,
    `  servers  ${servers === 0 ? 'none yet: name some under "mcpServers" in metier.json' : servers}`,
    `  connect  claude mcp add --transport http metier ${url}/mcp`,
    `           codex mcp add metier --url ${url}/mcp`,
  ]
  return [...lines, ...degraded.map((what) => warn(`  weaker   ${what}`))].join('\n')
}

/** What could be better, though nothing is wrong, gets a mark of its own. */
function markOf(ok: boolean, fix: string | undefined): string {
  if (!ok) return bad('✗')
  return fix === undefined ? good('✓') : warn('·')
}

/** What other hosts say of their servers need not concern us; any other field is a mistake, maybe in what was to be forbidden. */
function unreadOurs({ unknownFields }: Config): string[] {
  return unknownFields.filter((path) => !/^\/(?:mcpServers|servers)\//.test(path))
}

function unreadCheck(config: Config): Check {
  const fix = unreadOurs(config).length === 0 ? {} : { fix: `check the spelling of ${unreadOurs(config).join(', ')}` }
  return { name: 'unread fields', ok: true, detail: config.unknownFields.join(', '), ...fix }
}

type Check = { name: string; ok: boolean; detail: string; fix?: string }

async function examine(context: Context): Promise<Check[]> {
  const { config } = context
  const checks: Check[] = [{ name: 'node', ok: true, detail: process.version }]
  checks.push(configCheck(context))
  if (config.unknownFields.length > 0) checks.push(unreadCheck(config))
  checks.push(
    await sandboxCheck(context),
    ...(await found('tiers', () => tierChecks(context))),
    ...(await found('servers', () => serverChecks(context))),
    ...(await found('expose', () => exposeCheck(context))),
    ...(await found('record', () => recordCheck(context))),
  )
  return checks
}

function configCheck({ config, configFault }: Context): Check {
  const name = 'configuration'
  if (configFault !== null) return { name, ok: false, detail: `${configFault.message}; below, the defaults hold` }
  const file = config.file ?? 'none found; the defaults hold'
  const unset = config.unsetVariables
  if (unset.length === 0) return { name, ok: true, detail: file }
  const fix = `export ${unset.map((variable) => `${variable}=…`).join(' ')}`
  return { name, ok: false, detail: `${file}: not set: ${unset.join(', ')}`, fix }
}

/** What cannot even be looked at is what is wrong. */
async function found(name: string, look: () => Promise<Check[]>): Promise<Check[]> {
  return look().catch((thrown) => [{ name, ok: false, detail: toAppError(thrown).message }])
}

/** Where code runs; a tier that the configuration wants and that is not there is said with what adds it. */
async function sandboxCheck({ config }: Context): Promise<Check> {
  const { engine, minTier } = config.sandbox
  const boxes = openBoxes({ engine, minTier, folder: join(config.home, 'sandbox') })
  try {
    const { tier, layers, degraded } = await boxes.isolation()
    const ok = tier !== 'wasm'
    const detail = [`code runs at tier ${tier} (${layers.join(' in ')})`, ...degraded].join('; ')
    return { name: 'sandbox', ok, detail, ...(ok ? {} : { fix: 'sudo apt-get install bubblewrap' }) }
  } catch (thrown) {
    const { message, context } = toAppError(thrown)
    return { name: 'sandbox', ok: false, detail: message, ...(context.fix ? { fix: String(context.fix) } : {}) }
  } finally {
    await boxes.close()
  }
}

/** A tier that is missing is said, with the command that adds it; scripts need one. */
async function tierChecks({ config }: Context): Promise<Check[]> {
  const boxes = openScriptBoxes({ folder: join(config.home, 'sandbox') })
  try {
    const { tiers } = await boxes.test()
    const enough = tiers.some(({ tier, ok }) => ok && !isWeaker(tier, config.sandbox.minTier))
    return tiers.map(({ tier, ok, detail, fix }) => ({
      name: `tier ${tier}`,
      ok: ok || enough,
      detail,
      ...(fix === undefined ? {} : { fix }),
    }))
  } finally {
    await boxes.close()
  }
}

async function serverChecks({ verbs, config }: Context): Promise<Check[]> {
  const { catalog } = await verbs()
  const { tools, problems } = await catalog.tools({ refresh: true })
  return Object.entries(config.servers).map(([server, definition]) => {
    const name = `server ${server}`
    const problem = problems.find((candidate) => candidate.server === server)
    if (problem !== undefined) return { name, ok: false, detail: detailOf(problem.error), ...fixOf(problem.error) }
    const own = tools.filter((tool) => tool.server === server)
    const changed = own.filter((tool) => catalog.refusalOf(tool) !== null).map(({ id }) => visible(id))
    const { detail: said, ...unknown } = effectsDetail(server, own)
    if (changed.length === 0) return { name, ok: true, detail: `${said}; ${boxWords(definition)}`, ...unknown }
    const detail = `${own.length} tools, of which these changed and are not called: ${changed.join(', ')}`
    return { name, ok: false, detail, fix: `metier tools ${server}, then metier accept TOOL` }
  })
}

/** A host sees nothing of a tool that is not there, and nobody would ever say so. */
async function exposeCheck({ verbs, config }: Context): Promise<Check[]> {
  const { expose, file } = config
  if (expose.length === 0) return []
  const there = (await (await verbs()).exposed()).map(({ id }) => id)
  const missing = expose.filter((id) => !there.includes(id))
  if (missing.length === 0) return [{ name: 'expose', ok: true, detail: `${there.length} tools beside the three` }]
  const detail = `there is no ${missing.join(', no ')}`
  return [{ name: 'expose', ok: false, detail, fix: `correct "expose" in ${file}` }]
}

/** Whoever reads it need not be sent here. */
function detailOf({ message }: AppError): string {
  return message.replace(' with "metier doctor"', '')
}

function fixOf({ context }: AppError): { fix?: string } {
  return 'command' in context ? { fix: String(context.command) } : {}
}

async function recordCheck({ verbs, config }: Context): Promise<Check[]> {
  const { ok, events, reason } = await (await verbs()).ledger()
  const detail = ok === true ? `${events} events verify in ${config.home}` : String(reason)
  return [{ name: 'record', ok: ok === true, detail, ...(ok === true ? {} : { fix: 'metier audit verify' }) }]
}

export function help(commands: Record<string, Command>): string {
  const groups = Map.groupBy(Object.values(commands), ({ group }) => group)
  const lines = [`${strong('metier')}: the runtime between AI agents and their tools`, '']
  for (const [group, members] of groups) {
    lines.push(strong(group))
    for (const { usage, does } of members) lines.push(`  ${usage}`, faint(`      ${does}`))
  }
  lines.push(
    '',
    `Every command takes --json, --home DIR, --config FILE, --quiet. Results up to ${limits.inlineResultBytesMax} bytes stand inline.`,
  )
  return lines.join('\n')
}
