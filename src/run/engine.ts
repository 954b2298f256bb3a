/** The engine: starts runs, takes them over, and conducts them until they come to rest. */
import type { RunId } from '#model'
import { catalogQueue } from '#run/calls'
import { openStanding } from '#run/policy'
import { type AskedRequest, isSameRequest, noCapabilities, startByKey, withPlan } from '#run/start'
import { attemptRun } from './attempt-run.ts'
import { type Conduct, conductRun } from './conduct-run.ts'
import { type EngineContext, startedJournalOf } from './engine-context.ts'
import type { Engine, EngineParts } from './engine-parts.ts'
import { openOwnedRuns } from './owned-runs.ts'
import { openPrograms } from './programs.ts'
import { rehearseRun, replayRun } from './replay-run.ts'
import { openResume, resumeIfAnswered } from './resume-run.ts'
import { forkRun, startRun } from './start-run.ts'

export { openLocalQueue } from '#run/calls'
export { boundsOf, checkDag, needsOf } from '#run/dag'
export { runPolicy } from '#run/policy'
export { openBoxShare, preparedCached } from '#run/program'
export { newJournal, readJournal } from '#run/record'
export { Conductor } from '#run/state'
export { deliveriesOf } from './programs.ts'

export function openEngine(parts: EngineParts): Engine {
  const context = contextOf(parts)
  const { runs } = context
  const conduct: Conduct = (owned) =>
    conductRun(context, owned, (chain, settlement) => resumeIfAnswered(context, chain, settlement, resume))
  const resume = openResume(context, conduct)
  return {
    start: startByKey(runs.starting, (request) => startRun(context, request, conduct)),
    isOf: (run, request) => isRequestOf(context, run, request),
    resume,
    fork: (run, at, args, actor) => forkRun(context, { run, at, args, actor }, conduct),
    replay: (run) => replayRun(context, run),
    rehearse: (run, source, args) => rehearseRun(context, run, source, args),
    attempt: (run, source, args) => attemptRun(context, run, source, args),
    activeRun: (run) => runs.active.get(run),
    isBusy: runs.isBusy,
    close: runs.close,
  }
}

function contextOf(parts: EngineParts): EngineContext {
  const { store, boxes, catalog, config, settled } = parts
  return {
    store,
    boxes,
    catalog,
    config,
    settled,
    now: parts.now ?? Date.now,
    queue: parts.queue ?? catalogQueue(catalog),
    makers: parts.makers ?? {},
    capabilities: parts.capabilities ?? noCapabilities,
    programs: openPrograms(boxes, config.record.operations),
    standing: openStanding(store),
    runs: openOwnedRuns(),
  }
}

function isRequestOf({ capabilities, config, store }: EngineContext, run: RunId, asked: AskedRequest): boolean {
  const { started } = startedJournalOf({ store }, run)
  const request = withPlan(asked, capabilities, started.capability)
  return isSameRequest(request, { started, sealed: store.sealed(run) }, config)
}
