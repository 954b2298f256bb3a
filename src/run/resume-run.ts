/**
 * Takes a run over and goes on with it. What may keep us from that (a server that is gone, an
 * engine that is not here, a dead owner whose tools still act) is looked at before the run is ours:
 * else no other process could go on with it.
 */
import type { ProcessId, RunId } from '#model'
import { type Chain, ownedByAnother } from '#record'
import { type Prepared, preparedFor } from '#run/program'
import { type Settlement, serversOf } from '#run/record'
import { checkServers } from '#run/start'
import type { Conduct } from './conduct-run.ts'
import { type EngineContext, journalOf, startedJournalOf } from './engine-context.ts'
import type { ActiveRun, Engine, Live } from './engine-parts.ts'

/** Two that resume one run at the same time get the same one. */
export function openResume(context: EngineContext, conduct: Conduct): Engine['resume'] {
  const { catalog, runs, store } = context
  const endOrphans = orphanEnder(context)

  async function takeOver(run: RunId, by: string, live?: Live): Promise<ActiveRun> {
    await endOrphans(run)
    const prepared = await preparedHere(context, run)
    return runs.enter(async () => {
      const chain = await store.takeRun(run)
      const journal = journalOf(context, run)
      const { engine, isolation } = prepared
      chain.append('run.resumed', { by, epoch: chain.epoch, engine, isolation })
      catalog.carryOver(run, serversOf(journal))
      return conduct({ chain, journal, prepared, live })
    })
  }

  return async (run, by, live) => {
    const here = runs.active.get(run) ?? runs.resuming.get(run)
    if (here !== undefined) return here
    const taken = takeOver(run, by, live).finally(() => runs.resuming.delete(run))
    runs.resuming.set(run, taken)
    return taken
  }
}

async function preparedHere(context: EngineContext, run: RunId): Promise<Prepared> {
  const begun = startedJournalOf(context, run)
  checkServers(begun.started, context.catalog)
  return preparedFor(begun, context.boxes, context.makers)
}

/** Nothing of a dead owner may act any more when another goes on in its place. */
function orphanEnder({ queue, store }: EngineContext): (run: RunId) => Promise<void> {
  /** Dead owners of whom nothing is left. */
  const ended = new Map<ProcessId, Promise<void>>()
  return async (run) => {
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
}

/** An answer may have come just before the run was suspended: then it goes on at once. */
export async function resumeIfAnswered(
  { runs, store }: EngineContext,
  chain: Chain,
  settlement: Settlement,
  resume: Engine['resume'],
): Promise<Settlement> {
  const waits = settlement === 'approval_required' || settlement === 'uncertain'
  if (!waits || runs.isClosing() || chain.inbox().length === 0) return settlement
  try {
    return await (await resume(chain.run, 'engine')).settled
  } catch (error) {
    // A process that saw the answer sooner goes on with the run, and may be done with it.
    const row = store.run(chain.run)
    if (row?.status !== 'interrupted' && row?.owner !== store.process) return settlement
    throw error
  }
}
