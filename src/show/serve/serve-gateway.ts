/** `serve`: the gateway over stdio or HTTP, until it is stopped. */
import { type HttpGateway, serveHttp as openHttp, serveStdio as openStdio, tokenFile } from '#gateway'
import { AppError, builtInServer, type Config, type IsolationReport, splitToolId } from '#model'
import { type Context, exit, numberOption, strong, unreadOurs, warn } from '#show/cli'
import { announceQuestions } from './announce-questions.ts'
import { watchConfig } from './watch-config.ts'

export async function serveStdio(context: Context): Promise<number> {
  const { version, signal, config } = context
  const { executes: executesPerMinute } = config.http.rate
  const verbs = await context.verbs()
  const name = passthroughOf(context)
  const passthrough = name === undefined ? {} : { passthrough: name }
  if (name === undefined) verbs.warmUp()
  const served = await openStdio({ verbs, version, home: config.home, executesPerMinute, ...passthrough })
  const watch = watchConfig(context, verbs)
  const hush = announceQuestions(context, verbs, watch.config)
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

export async function serveHttp(context: Context): Promise<number> {
  const { config, options, version, note } = context
  const host = typeof options.host === 'string' ? options.host : config.http.host
  const port = numberOption(options, 'port', 0, 65_535) ?? config.http.port
  const verbs = await context.verbs()
  const { home, http } = config
  const passthrough = passthroughOf(context)
  if (passthrough === undefined) verbs.warmUp()
  const behind = { verbs, ...(passthrough !== undefined && { passthrough }) }
  const served = await openHttp({ ...http, ...behind, host, port, version, home, log: note })
  try {
    await tell(context, served)
    await untilStopped(context, http.url ?? served.url)
    note('Stopping …')
    await verbs.releaseRuns()
    return exit.done
  } finally {
    // Also where it could not begin: one that stays open would answer for a gateway that can do
    // nothing.
    await served.close()
  }
}

/**
 * Announces the gateway, purges what is too old once a day, and takes the announcement back at the
 * signal.
 */
async function untilStopped(context: Context, url: string): Promise<void> {
  const { options, signal } = context
  const verbs = await context.verbs()
  const leave = verbs.announceGateway(url, options['no-resume'] !== true)
  const watch = watchConfig(context, verbs)
  const hush = announceQuestions(context, verbs, watch.config)
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
async function tell({ config, verbs, json, print, note }: Context, { url, token }: HttpGateway): Promise<void> {
  const { home, http, expose } = config
  const servers = Object.keys(config.servers)
  const at = http.url ?? url
  const isolation = await (await verbs()).isolation()
  const answer = `${at}/approvals?token=${token}`
  note(welcome(at, home, isolation, servers.length))
  const unread = unreadOurs(config)
  if (unread.length > 0) note(`  unread   ${unread.join(', ')}: there is no such setting`)
  if (config.unsetVariables.length > 0) note(`  not set  ${config.unsetVariables.join(', ')}, which servers are to get`)
  const lost = expose.filter((id) => ![...servers, builtInServer].includes(splitToolId(id)!.server))
  if (lost.length > 0) note(`  expose   ${lost.join(', ')}: the configuration has no such server`)
  if (http.auth === 'token') note(`  token    every request needs "Authorization: Bearer …", as in ${tokenFile(home)}`)
  if (http.auth === 'oauth')
    note(`  oauth    every request needs a token of ${http.issuer} for ${http.audience ?? `${at}/mcp`}`)
  note(`  answer   ${answer}`)
  if (json) print(JSON.stringify({ url: at, mcp: `${at}/mcp`, home, isolation, servers, answer }))
}

const dayMs = 24 * 60 * 60 * 1000

/** Finished runs older than the configuration keeps them are purged whole; their heads stay. */
async function forget({ verbs, note }: Context, { record: { retentionDays } }: Config): Promise<void> {
  if (retentionDays === null) return
  const purged = await (await verbs()).expire(retentionDays)
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
