/**
 * Plans become calls and results: a plan enters, a run leaves, and every step of it is on the record.
 * Refuses a plan that cannot run before anything runs, and a run that someone else owns.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Catalog } from '#catalog'
import {
  type Actor,
  AppError,
  type Budget,
  type Config,
  type EventBodies,
  type Json,
  limits,
  newId,
  type PermissionSet,
  type Plan,
  type RunId,
  splitToolId,
  toText,
} from '#model'
import { type Chain, openSecrets, type Secrets, type Store } from '#record'
import type { Boxes } from '#sandbox'
import { checkPlan } from './check-tools.ts'
import { Conductor } from './conductor.ts'
import { copyEvents, eventsBefore } from './fork.ts'
import { type Journal, newJournal, readJournal } from './journal.ts'
import { type Mocks, mockedArguments, pretending } from './mocks.ts'
import { narrower } from './policy.ts'
import { type Prepared, prepare, preparedFor } from './prepare.ts'
import { type Heard, heardOf, openPrograms } from './programs.ts'
import { type Rehearsal, rehearse } from './rehearse.ts'
import { openStandingRules } from './standing.ts'
import type { Settlement } from './stop.ts'

export { Conductor } from './conductor.ts'
export type { Score } from './desk.ts'
export { type Journal, newJournal, readJournal } from './journal.ts'
export { type Mocks, readMocks } from './mocks.ts'
export { decide, matchesPattern, type Verdict } from './policy.ts'
export { heardOf } from './programs.ts'
export { openShare } from './share.ts'
export { standingRules } from './standing.ts'
export type { Rehearsal, Settlement }

export type Engine = {
  start(request: RunRequest): Promise<ActiveRun>
  resume(run: RunId, by: string): Promise<ActiveRun>
  /** Goes another way from call `at` on; that call gets `args` where they are given. */
  fork(run: RunId, at: number, args: Json | undefined, actor: Actor): Promise<ActiveRun>
  /** Compares the program with the record; calls nothing. */
  replay(run: RunId): Promise<Rehearsal>
  active(run: RunId): ActiveRun | undefined
  /** Lets go of every run, so that it can be taken up elsewhere. */
  close(): Promise<void>
}

export type RunRequest = {
  plan: Plan
  intent: string | null
  args: Json
  actor: Actor
  permissions?: PermissionSet
  budget?: Partial<Budget>
  key?: string
  /** A dry run: nothing is called. */
  mocks?: Mocks
}

export type ActiveRun = {
  run: RunId
  settled: Promise<Settlement>
  /** Resolves with the first question to a human. */
  asked: Promise<void>
  /** Resolves when all that happened so far is on disk, so that it may be spoken of. */
  durable(): Promise<void>
  cancel(asked: EventBodies['cancel.asked']): void
  leave(): Promise<void>
}

type Parts = {
  store: Store
  boxes: Boxes
  catalog: Catalog
  config: Config
  now?: () => number
  /** Told of every run that came to rest under this owner. */
  settled?: (run: RunId) => void
}

export function openEngine(parts: Parts): Engine {
  const { store, boxes, catalog, config, now = Date.now } = parts
  const active = new Map<RunId, ActiveRun>()
  const starting = new Map<string, Promise<ActiveRun>>()
  const resuming = new Map<RunId, Promise<ActiveRun>>()
  const standing = openStandingRules(store)
  const programs = openPrograms(boxes)
  const journalOf = (run: RunId) => readJournal(store.events(run), store.text)
  let closing = false

  const conduct = (chain: Chain, journal: Journal, prepared: Prepared, mocks: Mocks = {}): ActiveRun => {
    const heard: Heard = async (path) => {
      await chain.durable()
      return heardOf(journalOf(chain.run), path)
    }
    const program = programs.root(prepared, journal, heard)
    const nest = programs.nest(journal, heard)
    const secrets = secretsOf(journal.started.seed, chain, config)
    const pretend = journal.started.mode === 'run' ? null : pretending(mocks, store)
    const rules = [...config.policy.rules, ...standing(), ...journal.rules]
    const policy = { permissions: journal.started.permissions, rules }
    const conductor = new Conductor({ ...parts, chain, journal, program, nest, secrets, policy, pretend, now, pause })
    const over = conductor.settled.finally(() => {
      if (active.get(chain.run) === run) active.delete(chain.run)
      catalog.release(chain.run)
      parts.settled?.(chain.run)
    })
    const run: ActiveRun = {
      run: chain.run,
      settled: over.then((settlement) => goOnIfAnswered(chain, settlement)),
      asked: conductor.asked,
      durable: () => chain.durable(),
      cancel: (asked) => conductor.cancel(asked),
      leave: () => conductor.leave(),
    }
    run.settled.catch(() => {})
    active.set(chain.run, run)
    conductor.begin()
    return run
  }

  /** An answer may have come just before the run was suspended: then it goes on at once. */
  const goOnIfAnswered = async (chain: Chain, settlement: Settlement): Promise<Settlement> => {
    const waits = settlement === 'approval_required' || settlement === 'uncertain'
    if (!waits || closing || chain.inbox().length === 0) return settlement
    try {
      return await (await resume(chain.run, 'engine')).settled
    } catch (error) {
      if (isTaken(chain.run)) return settlement
      throw error
    }
  }

  /** Whoever answered may have been quicker to go on with the run, and may be done with it. */
  const isTaken = (run: RunId): boolean => {
    const row = store.run(run)
    return row?.status !== 'interrupted' && row?.owner !== store.process
  }

  /** Requests with one key that meet here share one run; elsewhere the record decides who was first. */
  const start = (request: RunRequest): Promise<ActiveRun> => {
    const { key } = request
    if (key === undefined) return startAnew(request)
    const sooner = starting.get(key)
    if (sooner !== undefined) return sooner
    const run = startAnew(request).finally(() => starting.delete(key))
    starting.set(key, run)
    return run
  }

  const startAnew = async (request: RunRequest): Promise<ActiveRun> => {
    const seed = randomBytes(32).toString('hex')
    const { clean, seals } = withoutSecrets(request, seed, config)
    if (clean.plan.kind === 'dag') await checkPlan(clean.plan.tasks, catalog)
    const prepared = await prepare(clean.plan, boxes)
    const started = startedBody(clean, prepared, seed, config, catalog)
    const chain = store.startRun(newId<RunId>(now()), started)
    for (const seal of seals) chain.seal(...seal)
    if (started.key !== undefined) await chain.durable()
    return conduct(chain, newJournal(started, chain.lastAt()), prepared, request.mocks)
  }

  /** Two that resume one run at the same time get the same one. */
  const resume = async (run: RunId, by: string): Promise<ActiveRun> => {
    const here = active.get(run) ?? resuming.get(run)
    if (here !== undefined) return here
    const taken = takeUp(run, by).finally(() => resuming.delete(run))
    resuming.set(run, taken)
    return taken
  }

  const takeUp = async (run: RunId, by: string): Promise<ActiveRun> => {
    const [first] = store.events(run, { type: 'run.started' })
    if (first?.type === 'run.started') checkServers(first.body, catalog)
    const chain = await store.takeRun(run)
    const journal = journalOf(run)
    const prepared = await preparedFor(journal, boxes)
    const { engine, isolation } = prepared
    chain.append('run.resumed', { by, epoch: chain.epoch, engine, isolation })
    catalog.carryOver(run, serversOf(journal))
    return conduct(chain, journal, prepared)
  }

  const fork = async (run: RunId, at: number, args: Json | undefined, actor: Actor): Promise<ActiveRun> => {
    const events = store.events(run)
    const origin = readJournal(events, store.text)
    checkServers(origin.started, catalog)
    const { key: _, ...same } = origin.started
    const forkedFrom = { run, at: String(at), ...(args === undefined ? {} : { args }) }
    const started = { ...same, actor, forkedFrom }
    const copied = eventsBefore(events, at)
    const chain = store.startRun(newId<RunId>(now()), started)
    copyEvents(chain, copied, store.text)
    await chain.durable()
    const journal = journalOf(chain.run)
    return conduct(chain, journal, await preparedFor(journal, boxes))
  }

  const replay = async (run: RunId): Promise<Rehearsal> => {
    const journal = journalOf(run)
    const heard: Heard = async (path) => heardOf(journal, path)
    const program = programs.root(await preparedFor(journal, boxes), journal, heard)
    return rehearse(journal, program, programs.nest(journal, heard))
  }

  const close = async () => {
    closing = true
    await Promise.allSettled([...active.values()].map((run) => run.leave()))
  }
  return { start, resume, fork, replay, active: (run) => active.get(run), close }
}

function secretsOf(seed: string, chain: Pick<Chain, 'seal' | 'sealed'>, { record, knownSecrets }: Config): Secrets {
  return openSecrets({ patterns: record.secrets, known: knownSecrets, seed, chain })
}

function startedBody(
  { intent, args, actor, permissions, budget, key, mocks }: RunRequest,
  { kind, source, digest, engine, isolation }: Prepared,
  seed: string,
  config: Config,
  catalog: Catalog,
): EventBodies['run.started'] {
  if (Buffer.byteLength(toText(args)) > limits.programArgumentsBytesMax) {
    const details = `at most ${limits.programArgumentsBytesMax} bytes`
    throw new AppError('INVALID_INPUT_PARAM', `Cannot start the run: "args" is too large, ${details}`, {
      param: 'args',
      details,
    })
  }
  return {
    intent,
    mode: mocks === undefined ? 'run' : 'dry-run',
    plan: { kind, source, digest },
    args: mockedArguments(args, mocks?.args),
    actor,
    permissions:
      permissions === undefined ? config.policy.permissions : narrower(permissions, config.policy.permissions),
    budget: narrowed(config.budget, budget),
    seed,
    engine,
    servers: catalog.digests(),
    isolation,
    ...(key === undefined ? {} : { key }),
  }
}

function narrowed(given: Budget, asked: Partial<Budget> = {}): Budget {
  const least = (name: keyof Budget) => Math.min(given[name], asked[name] ?? given[name])
  return { calls: least('calls'), wallMs: least('wallMs'), bytes: least('bytes') }
}

/** Secrets are taken out of a request before anything of it is recorded or run; the run gets them sealed. */
function withoutSecrets(request: RunRequest, seed: string, config: Config) {
  const seals: [placeholder: string, value: string, server: string][] = []
  const chain = { seal: (...seal: (typeof seals)[number]) => void seals.push(seal), sealed: () => [] }
  const secrets = secretsOf(seed, chain, config)
  const { plan, args, intent } = secrets.hide(
    { plan: request.plan, args: request.args, intent: request.intent } as unknown as Json,
    'args',
  ) as unknown as RunRequest
  return { clean: { ...request, plan, args, intent }, seals }
}

const pause = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal })

/** The servers that a run has sent something to. */
function serversOf({ calls }: Journal): Set<string> {
  const sent = [...calls.values()].filter(({ attempt }) => attempt > 0)
  return new Set(sent.flatMap(({ tool }) => splitToolId(tool)?.server ?? []))
}

function checkServers({ servers: known }: EventBodies['run.started'], catalog: Catalog): void {
  const now = catalog.digests()
  const changed = Object.entries(known).filter(([server, digest]) => now[server] !== digest)
  if (changed.length === 0) return
  const servers = changed.map(([server]) => server)
  const message = `Cannot resume the run: the definition of ${servers.join(', ')} is not the one it started with; restore it, or fork the run`
  throw new AppError('CONFIG_CHANGED', message, { servers })
}
