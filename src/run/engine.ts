/** The engine: starts runs, takes them up again, and conducts them until they come to rest. */
import {
  type Actor,
  AppError,
  type CapabilitySource,
  type Json,
  newId,
  type ProcessId,
  type Program,
  pause,
  type RunId,
  randomBytesPooled,
} from '#model'
import { type Chain, ownedByAnother, placeholderSeed } from '#record'
import { catalogQueue, mockResults, recordedResultsOf } from '#run/calls'
import type { Mocks } from '#run/input'
import { openStanding, runPolicy } from '#run/policy'
import { type Prepared, prepare, preparedFor } from '#run/program'
import { type Journal, newJournal, readJournal, type Settlement, serversOf } from '#run/record'
import {
  type AskedRequest,
  checkPlan,
  checkServers,
  copyEvents,
  eventsBefore,
  forkedBody,
  isSameRequest,
  noCapabilities,
  pinCapabilities,
  planOfSource,
  redactRequest,
  secretsOf,
  startByKey,
  startedBody,
  withPlan,
} from '#run/start'
import { Conductor, checkReplay, type ReplayCheck } from '#run/state'
import type { ActiveRun, Engine, EngineParts, Live } from './engine-parts.ts'
import { explorationProgram } from './explore-program.ts'
import { deliveriesOf, openPrograms, type ReadDeliveries } from './programs.ts'
import { watchRun } from './provenance.ts'
import { isSameValue, sameResult } from './rehearse.ts'

export { openLocalQueue } from '#run/calls'
export { boundsOf, checkDag, needsOf } from '#run/dag'
export { runPolicy } from '#run/policy'
export { openBoxShare, preparedCached } from '#run/program'
export { newJournal, readJournal } from '#run/record'
export { Conductor } from '#run/state'
export { deliveriesOf } from './programs.ts'

export function openEngine(parts: EngineParts): Engine {
  const { store, boxes, catalog, config, now = Date.now, queue = catalogQueue(parts.catalog), makers = {} } = parts
  const { capabilities = noCapabilities } = parts
  const active = new Map<RunId, ActiveRun>()
  const starting = new Map<string, Promise<ActiveRun>>()
  const resuming = new Map<RunId, Promise<ActiveRun>>()
  /** Dead owners of whom nothing is left. */
  const ended = new Map<ProcessId, Promise<void>>()
  const standing = openStanding(store)
  const programs = openPrograms(boxes, config.record.operations)
  const journalOf = (run: RunId) => readJournal(store.events(run), store.text)
  const begunOf = (run: RunId) => readJournal(store.events(run, { type: 'run.started' }), store.text)
  /** What is about to be owned here: whoever closes waits for it, so that it is left in order. */
  const entering = new Set<Promise<ActiveRun>>()
  let closing = false

  const enter = async (take: () => Promise<ActiveRun>): Promise<ActiveRun> => {
    if (closing) throw leaving()
    const entered = take()
    entering.add(entered)
    return entered.finally(() => entering.delete(entered))
  }

  const policyOf = ({ started, lines }: Journal) =>
    runPolicy(started.permissions, config.policy, standing, lines, config.approvals.expireMs)
  const rootOf = (journal: Journal, prepared: Prepared, heard: ReadDeliveries): Program =>
    journal.started.mode === 'explore'
      ? explorationProgram(journal, { ...parts, capabilities, programs, policy: policyOf(journal) })
      : programs.root(prepared, journal, heard)

  const programsOf = (journal: Journal, prepared: Prepared, heard: ReadDeliveries) =>
    pinCapabilities(capabilities, journal, {
      program: rootOf(journal, prepared, heard),
      nest: programs.nest(journal, heard),
    })

  const conduct = (chain: Chain, journal: Journal, prepared: Prepared, live: Live = {}): ActiveRun => {
    const heard: ReadDeliveries = async (path) => {
      await chain.durable()
      return deliveriesOf(journalOf(chain.run), path)
    }
    const { mode, mocks = {} } = journal.started
    const policy = policyOf(journal)
    const watched = watchRun(journal, programsOf(journal, prepared, heard))
    const secrets = secretsOf(placeholderSeed(journal.started, chain.run), chain, config)
    const pretend = mode === 'run' ? null : mockResults(mocks as Mocks, recordedResultsOf(store))
    const end = Promise.withResolvers<Settlement>()
    const conductor = new Conductor({
      ...parts,
      ...live,
      ...watched,
      queue,
      chain,
      journal,
      secrets,
      policy,
      pretend,
      ended: end.resolve,
      now,
      pause,
    })
    const over = conductor.settled.finally(() => {
      if (active.get(chain.run) === run) active.delete(chain.run)
      catalog.release(chain.run)
      parts.settled?.(chain.run)
    })
    const run: ActiveRun = {
      run: chain.run,
      settled: over.then((settlement) => goOnIfAnswered(chain, settlement)),
      asked: conductor.asked,
      ended: end.promise,
      durable: () => chain.durable(),
      cachedEvents: (only) => chain.cachedEvents(only),
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

  const startAnew = async (asked: AskedRequest): Promise<ActiveRun> => {
    const request = withPlan(asked, capabilities)
    const seed = randomBytesPooled(32).toString('hex')
    const { clean, seals } = redactRequest(request, seed, config)
    if (clean.plan.kind === 'dag')
      await checkPlan(clean.plan.tasks, catalog, (id) => capabilities.resolve(id, clean.actor))
    const prepared = await prepare(clean.plan, boxes, makers)
    const started = startedBody(clean, prepared, seed, config, catalog)
    return enter(async () => {
      const chain = store.startRun(newId<RunId>(now()), started)
      for (const seal of seals) chain.seal(...seal)
      if (started.key !== undefined) await chain.durable()
      return conduct(chain, newJournal(started, chain.lastAt()), prepared, request)
    })
  }

  /** Two that resume one run at the same time get the same one. */
  const resume = async (run: RunId, by: string, live?: Live): Promise<ActiveRun> => {
    const here = active.get(run) ?? resuming.get(run)
    if (here !== undefined) return here
    const taken = takeUp(run, by, live).finally(() => resuming.delete(run))
    resuming.set(run, taken)
    return taken
  }

  const takeUp = async (run: RunId, by: string, live?: Live): Promise<ActiveRun> => {
    await endLeftovers(run)
    const prepared = await fitFor(run)
    return enter(async () => {
      const chain = await store.takeRun(run)
      const journal = journalOf(run)
      const { engine, isolation } = prepared
      chain.append('run.resumed', { by, epoch: chain.epoch, engine, isolation })
      catalog.carryOver(run, serversOf(journal))
      return conduct(chain, journal, prepared, live)
    })
  }

  /**
   * What may keep us from going on with a run is looked at before it is ours: else nobody could.
   */
  const fitFor = async (run: RunId): Promise<Prepared> => {
    const begun = begunOf(run)
    checkServers(begun.started, catalog)
    return preparedFor(begun, boxes, makers)
  }

  /** Nothing of a dead owner may act any more when another goes on in its place. */
  const endLeftovers = async (run: RunId): Promise<void> => {
    const owner = store.run(run)?.owner ?? null
    if (owner === null || owner === store.process) return
    if (!ended.has(owner) && store.isAlive(owner)) throw ownedByAnother(run, owner)
    const end = ended.get(owner) ?? queue.leftovers(owner)
    ended.set(owner, end)
    await end.catch((error) => {
      ended.delete(owner)
      throw error
    })
  }

  const fork = async (run: RunId, at: number, args: Json | undefined, actor: Actor): Promise<ActiveRun> => {
    const events = store.events(run)
    const origin = readJournal(events, store.text)
    const prepared = await preparedFor(origin, boxes, makers)
    const forked = newId<RunId>(now())
    const left = { run, at: String(at), ...(args === undefined ? {} : { args }) }
    const { started, seals } = forkedBody(forked, origin, left, { prepared, config, sealed: store.sealed(run) })
    return enter(async () => {
      const chain = store.startRun(forked, { ...started, actor, servers: catalog.digests() })
      for (const seal of seals) chain.seal(...seal)
      copyEvents(chain, eventsBefore(events, at), store.text)
      await chain.durable()
      return conduct(chain, journalOf(forked), prepared)
    })
  }

  const replay = async (run: RunId): Promise<ReplayCheck> => {
    const journal = journalOf(run)
    const heard: ReadDeliveries = async (path) => deliveriesOf(journal, path)
    return checkReplay(journal, programsOf(journal, await preparedFor(journal, boxes, makers), heard))
  }

  const rehearse = async (run: RunId, source: CapabilitySource, args: Json): Promise<ReplayCheck> => {
    const journal = journalOf(run)
    const plan = planOfSource(source, args)
    const prepared = await prepare(plan, boxes, makers)
    const started = { ...journal.started, args, plan: { ...prepared, source: prepared.source } }
    const heard: ReadDeliveries = async (path) => deliveriesOf(journal, path)
    const programs = programsOf({ ...journal, started }, prepared, heard)
    return sameResult(await checkReplay(journal, programs, isSameValue), store, run)
  }

  const close = async () => {
    closing = true
    await Promise.allSettled(entering)
    await Promise.allSettled([...active.values()].map((run) => run.leave()))
  }
  const isBusy = () => active.size + entering.size + starting.size + resuming.size > 0
  const isOf = (run: RunId, asked: AskedRequest) => {
    const { started } = begunOf(run)
    const request = withPlan(asked, capabilities, started.capability)
    return isSameRequest(request, { started, sealed: store.sealed(run) }, config)
  }
  return {
    start: startByKey(starting, startAnew),
    isOf,
    resume,
    fork,
    replay,
    rehearse,
    activeRun: (run) => active.get(run),
    isBusy,
    close,
  }
}

function leaving(): AppError {
  return new AppError('UPSTREAM_UNREACHABLE', 'Cannot begin: this process is stopping; try again when it is back')
}
