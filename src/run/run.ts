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
  type Program,
  type RunId,
  splitToolId,
  toText,
} from '#model'
import { type Chain, openSecrets, type Secrets, type Store } from '#record'
import { type Boxes, prepareProgram } from '#sandbox'
import { digestOf } from './call.ts'
import { checkPlan } from './check-tools.ts'
import { Conductor } from './conductor.ts'
import { copyEvents, eventsBefore } from './fork.ts'
import { type Journal, newJournal, readJournal } from './journal.ts'
import { type Mocks, mockedArguments, pretending } from './mocks.ts'
import { narrower } from './policy.ts'
import { boxed, type Prepared, prepare, preparedFor, programOf } from './prepare.ts'
import { type Rehearsal, rehearse } from './rehearse.ts'
import { openStandingRules } from './standing.ts'
import type { Settlement } from './stop.ts'

export { Conductor } from './conductor.ts'
export type { Score } from './desk.ts'
export { type Journal, newJournal, readJournal } from './journal.ts'
export { type Mocks, readMocks } from './mocks.ts'
export { decide, matchesPattern, type Verdict } from './policy.ts'
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
  const standing = openStandingRules(store)
  let closing = false

  const nestOf =
    ({ started }: Journal) =>
    (code: string, args: string, id: string, at: number) =>
      boxed(() =>
        boxes.program({ source: prepareProgram(code).source, args, seed: digestOf(`${started.seed} ${id}`), now: at }),
      )

  const conduct = (
    chain: Chain,
    journal: Journal,
    program: Program,
    secrets: Secrets,
    mocks: Mocks = {},
  ): ActiveRun => {
    const pretend = journal.started.mode === 'run' ? null : pretending(mocks, store)
    const rules = [...config.policy.rules, ...standing(), ...journal.rules]
    const policy = { permissions: journal.started.permissions, rules }
    const nest = nestOf(journal)
    const conductor = new Conductor({ ...parts, chain, journal, program, nest, secrets, policy, pretend, now, pause })
    const run: ActiveRun = {
      run: chain.run,
      settled: conductor.settled.then((settlement) => goOnIfAnswered(chain, settlement)),
      asked: conductor.asked,
      durable: () => chain.durable(),
      cancel: (asked) => conductor.cancel(asked),
      leave: () => conductor.leave(),
    }
    run.settled.catch(() => {})
    active.set(chain.run, run)
    conductor.settled
      .catch(() => {})
      .finally(() => {
        if (active.get(chain.run) === run) active.delete(chain.run)
        catalog.release(chain.run)
        parts.settled?.(chain.run)
      })
    conductor.begin()
    return run
  }

  /** An answer may have come just before the run was suspended: then it goes on at once. */
  const goOnIfAnswered = async (chain: Chain, settlement: Settlement): Promise<Settlement> => {
    const waits = settlement === 'approval_required' || settlement === 'uncertain'
    if (!waits || closing || chain.inbox().length === 0) return settlement
    return (await resume(chain.run, 'engine')).settled
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
    const secrets = secretsOf(seed, chain, config)
    if (started.key !== undefined) await chain.durable()
    const journal = newJournal(started, chain.lastAt())
    const program = await boxed(() => prepared.program(toText(started.args), seed, journal.startedAt))
    return conduct(chain, journal, program, secrets, request.mocks)
  }

  const resume = async (run: RunId, by: string): Promise<ActiveRun> => {
    const here = active.get(run)
    if (here !== undefined) return here
    checkServers(readJournal(store.events(run), store.text), catalog)
    const chain = await store.takeRun(run)
    const journal = readJournal(store.events(run), store.text)
    const { engine, isolation } = await preparedFor(journal, boxes)
    chain.append('run.resumed', { by, epoch: chain.epoch, engine, isolation })
    catalog.carryOver(run, serversOf(journal))
    const program = await boxed(() => programOf(journal, boxes))
    return conduct(chain, journal, program, secretsOf(journal.started.seed, chain, config))
  }

  const fork = async (run: RunId, at: number, args: Json | undefined, actor: Actor): Promise<ActiveRun> => {
    const events = store.events(run)
    const origin = readJournal(events, store.text)
    checkServers(origin, catalog)
    const { key: _, ...same } = origin.started
    const forkedFrom = { run, at: String(at), ...(args === undefined ? {} : { args }) }
    const started = { ...same, actor, forkedFrom }
    const copied = eventsBefore(events, at)
    const chain = store.startRun(newId<RunId>(now()), started)
    copyEvents(chain, copied, store.text)
    await chain.durable()
    const journal = readJournal(store.events(chain.run), store.text)
    const program = await boxed(() => programOf(journal, boxes))
    return conduct(chain, journal, program, secretsOf(started.seed, chain, config))
  }

  const replay = async (run: RunId): Promise<Rehearsal> => {
    const journal = readJournal(store.events(run), store.text)
    return rehearse(journal, await programOf(journal, boxes), nestOf(journal))
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

function checkServers({ started }: Journal, catalog: Catalog): void {
  const now = catalog.digests()
  const changed = Object.entries(started.servers).filter(([server, digest]) => now[server] !== digest)
  if (changed.length === 0) return
  const servers = changed.map(([server]) => server)
  const message = `Cannot resume the run: the definition of ${servers.join(', ')} is not the one it started with; restore it, or fork the run`
  throw new AppError('CONFIG_CHANGED', message, { servers })
}
