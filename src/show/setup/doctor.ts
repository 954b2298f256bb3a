/** `doctor`: checks this machine, the configuration, the servers and the record. */
import { join } from 'node:path'
import { type AppError, builtInServer, type Config, escapeInvisible, isWeaker, limits, newId, toAppError } from '#model'
import { openBoxes, openScriptBoxes } from '#sandbox'
import type { Context } from '#show/cli'
import { artifactsOf, bad, counted, exit, good, unreadOurs, warn } from '#show/cli'
import { type AttentionReport, attentionLine, type PlannerReport, plannerLine } from '#show/learn'
import { effectsDetail } from './effects-detail.ts'

export async function doctor(context: Context): Promise<number> {
  const checks = await examine(context)
  const ok = checks.every((check) => check.ok)
  if (context.json) context.print(JSON.stringify({ ok, checks }))
  else
    for (const { name, ok, detail, fix } of checks)
      context.print(`${markOf(ok, fix)} ${name}: ${detail}${fix === undefined ? '' : `\n    ${fix}`}`)
  if (context.configFault !== null) return exit.configuration
  return ok ? exit.done : exit.failed
}

/** What could be better, though nothing is wrong, gets a mark of its own. */
function markOf(ok: boolean, fix: string | undefined): string {
  if (!ok) return bad('✗')
  return fix === undefined ? good('✓') : warn('·')
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
    ...(await found('artifacts', () => artifactsCheck(context))),
    ...(await found('models', () => modelChecks(context))),
    ...(await found('record', () => recordCheck(context))),
    ...(await found('task graph', () => graphCheck(context))),
    ...(await found('learning', () => learnCheck(context))),
  )
  return checks
}

async function learnCheck(context: Context): Promise<Check[]> {
  const { enabled, n, of, planner, attention } = await (await (await context.record()).learning()).status()
  if (!enabled) return [{ name: 'learning', ok: true, detail: 'switched off by learn.enabled' }]
  const models = `${plannerLine(planner as PlannerReport)}; ${attentionLine(attention as AttentionReport)}`
  const detail = `${n} of ${of} events of the home are folded; ${models}`
  return [{ name: 'learning', ok: true, detail }]
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

/**
 * Where code runs; a tier that the configuration wants and that is not there is said with what adds
 * it.
 */
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

async function serverChecks({ verbs }: Context): Promise<Check[]> {
  const opened = await verbs()
  const all = await opened.checkServers()
  const built = all.at(-1)!.tools.length
  const ours: Check = {
    name: `server ${builtInServer}`,
    ok: true,
    detail: `${counted(built, 'tool')}; in this process`,
  }
  const examined = all.slice(0, -1).map(async ({ server, box, tools: own, refused, problem }): Promise<Check> => {
    const name = `server ${server}`
    if (problem !== null) return { name, ok: false, detail: detailOf(problem), ...fixOf(problem) }
    const changed = refused.map(escapeInvisible)
    const { detail: said, ...unknown } = effectsDetail(server, own, await opened.suggestEffects(server))
    if (changed.length === 0) return { name, ok: true, detail: `${said}; ${box}`, ...unknown }
    const detail = `${own.length} tools, of which these changed and are not called: ${changed.join(', ')}`
    return { name, ok: false, detail, fix: `metier tools ${server}, then metier accept TOOL` }
  })
  return [...(await Promise.all(examined)), ours]
}

/** A host does not see a tool that is not there, and nothing else would report it. */
async function exposeCheck({ verbs, config }: Context): Promise<Check[]> {
  const { expose, file } = config
  if (expose.length === 0) return []
  const there = (await (await verbs()).exposed()).map(({ id }) => id)
  const missing = expose.filter((id) => !there.includes(id))
  if (missing.length === 0) return [{ name: 'expose', ok: true, detail: `${there.length} tools beside the three` }]
  const detail = `there is no ${missing.join(', no ')}`
  return [{ name: 'expose', ok: false, detail, fix: `correct "expose" in ${file}` }]
}

/** The message without its advice to run doctor. */
function detailOf({ message }: AppError): string {
  return message.replace(' with "metier doctor"', '')
}

function fixOf({ context }: AppError): { fix?: string } {
  return 'command' in context ? { fix: String(context.command) } : {}
}

/** Asks the bucket for an artifact that it cannot have: that takes its server and its keys. */
async function artifactsCheck({ config, signal }: Context): Promise<Check[]> {
  if (config.artifacts === 'dir') return []
  const { endpoint, bucket, prefix } = config.artifacts
  const detail = `bucket ${bucket}${prefix === '' ? '' : `, below ${prefix}/`}, at ${endpoint}`
  const error = await (await artifactsOf(config)).get(newId(), signal).then(() => null, toAppError)
  if (error === null) return [{ name: 'artifacts', ok: true, detail }]
  const fix = 'check "artifacts" of the configuration: url, endpoint, region, keys'
  return [{ name: 'artifacts', ok: false, detail: `${detail}: ${error.message}`, fix }]
}

/** Models that the configuration names, and servers of this machine that have some. */
async function modelChecks({ config }: Context): Promise<Check[]> {
  const { reachable } = await import('#agent')
  const reaches = await reachable(config)
  const none = 'none is configured, and no Ollama, llama.cpp or LM Studio answers on this machine'
  if (reaches.length === 0) return [{ name: 'models', ok: true, detail: none }]
  return reaches.map(({ provider, url, models, problem }): Check => {
    const name = `model ${provider}`
    if (problem === null) return { name, ok: true, detail: `${counted(models.length, 'model')} at ${url}` }
    return { name, ok: false, detail: `${url}: ${problem}`, fix: 'check "providers" and "agent" of the configuration' }
  })
}

async function graphCheck({ record, config: { taskGraph, projectRuns } }: Context): Promise<Check[]> {
  const name = 'task graph'
  const where = taskGraph === 'sqlite' ? 'in the home' : `in ${taskGraph.url}, database ${taskGraph.database}`
  const look = { signal: AbortSignal.timeout(limits.doctorGraphMsMax) }
  try {
    const { taskGraph: graph } = await record()
    const { missions } = await graph.missions({ limit: 1 }, look)
    const shown = projectRuns ? `; ${lagText(await graph.lag(look))}` : ''
    return [{ name, ok: true, detail: `${missions.length === 0 ? 'empty, ' : ''}${where}${shown}` }]
  } catch (thrown) {
    const fix = taskGraph === 'sqlite' ? {} : { fix: 'start the server, or correct "taskGraph" in the configuration' }
    return [{ name, ok: false, detail: toAppError(thrown).message, ...fix }]
  }
}

function lagText({ events, since }: { events: number; since: string | null }): string {
  if (since === null) return 'runs are shown up to the last event'
  const count = `${events}${events < limits.projectionLagMax ? '' : ' or more'} events`
  return `runs are shown ${count} behind the record, since ${since}`
}

async function recordCheck({ verbs, config }: Context): Promise<Check[]> {
  const { ok, events, reason } = await (await verbs()).ledger()
  const detail = ok === true ? `${events} events verify in ${config.home}` : String(reason)
  return [{ name: 'record', ok: ok === true, detail, ...(ok === true ? {} : { fix: 'metier audit verify' }) }]
}
