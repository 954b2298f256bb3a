/** Moves a run that this process owns until it comes to rest, and is its handle meanwhile. */
import { pause } from '#model'
import { type Chain, loadSecrets } from '#record'
import { mockResults, recordedResultsOf } from '#run/calls'
import type { Mocks } from '#run/input'
import type { Prepared } from '#run/program'
import type { Journal, Settlement } from '#run/record'
import { secretsOf } from '#run/start'
import { Conductor } from '#run/state'
import { type EngineContext, journalOf, policyOf, programsOf } from './engine-context.ts'
import type { ActiveRun, Live } from './engine-parts.ts'
import { deliveriesOf, type ReadDeliveries } from './programs.ts'
import { watchRun } from './provenance.ts'

const { placeholderSeed } = await loadSecrets()

/** A run that this process owns, with all that moving it takes. */
type OwnedRun = { chain: Chain; journal: Journal; prepared: Prepared; live?: Live | undefined }

export type Conduct = (owned: OwnedRun) => ActiveRun

/** What follows when the run came to rest: it may go on at once. */
type FollowUp = (chain: Chain, settlement: Settlement) => Promise<Settlement>

export function conductRun(context: EngineContext, owned: OwnedRun, followUp: FollowUp): ActiveRun {
  const { catalog, runs } = context
  const { chain } = owned
  const end = Promise.withResolvers<Settlement>()
  const conductor = new Conductor({ ...runContext(context, owned), ended: end.resolve })
  const over = conductor.settled.finally(() => {
    if (runs.active.get(chain.run) === run) runs.active.delete(chain.run)
    catalog.release(chain.run)
    context.settled?.(chain.run)
  })
  const run: ActiveRun = {
    run: chain.run,
    settled: over.then((settlement) => followUp(chain, settlement)),
    asked: conductor.asked,
    ended: end.promise,
    durable: () => chain.durable(),
    cachedEvents: (only) => chain.cachedEvents(only),
    cancel: (asked) => conductor.cancel(asked),
    leave: () => conductor.leave(),
  }
  run.settled.catch(() => {})
  runs.active.set(chain.run, run)
  conductor.begin()
  return run
}

function runContext(context: EngineContext, { chain, journal, prepared, live = {} }: OwnedRun) {
  const { catalog, config, now, queue, store } = context
  const readDeliveries: ReadDeliveries = async (path) => {
    await chain.durable()
    return deliveriesOf(journalOf(context, chain.run), path)
  }
  const { mode, mocks = {} } = journal.started
  const watched = watchRun(journal, programsOf(context, journal, prepared, readDeliveries))
  const secrets = secretsOf(placeholderSeed(journal.started, chain.run), chain, config)
  const policy = policyOf(context, journal)
  const mocked = mode === 'run' ? null : mockResults(mocks as Mocks, recordedResultsOf(store))
  const attended = live.attendant === undefined ? {} : { attendant: live.attendant }
  return { catalog, ...attended, ...watched, queue, chain, journal, secrets, policy, mocked, now, pause }
}
