/** What every verb of the engine works with, and what it reads of a run from its record. */
import type { Catalog } from '#catalog'
import type { Config, Program, RunId } from '#model'
import type { Store } from '#record'
import type { WorkQueue } from '#run/calls'
import { type RunPolicy, runPolicy, type StandingRules } from '#run/policy'
import type { Makers, Prepared } from '#run/program'
import { type Journal, readJournal } from '#run/record'
import { type Capabilities, pinCapabilities } from '#run/start'
import type { Boxes } from '#sandbox'
import type { EngineParts } from './engine-parts.ts'
import { explorationProgram } from './explore-program.ts'
import type { OwnedRuns } from './owned-runs.ts'
import type { Programs, ReadDeliveries } from './programs.ts'

export type EngineContext = {
  store: Store
  boxes: Boxes
  catalog: Catalog
  config: Config
  now: () => number
  queue: WorkQueue
  makers: Makers
  capabilities: Capabilities
  programs: Programs
  standing: () => StandingRules
  runs: OwnedRuns
  settled: EngineParts['settled']
}

type Recorded = Pick<EngineContext, 'store'>

export function journalOf({ store }: Recorded, run: RunId): Journal {
  return readJournal(store.events(run), store.text)
}

/** Of its first event alone. */
export function startedJournalOf({ store }: Recorded, run: RunId): Journal {
  return readJournal(store.events(run, { type: 'run.started' }), store.text)
}

export function policyOf({ config, standing }: EngineContext, { started, lines }: Journal): RunPolicy {
  const { expireMs } = config.approvals
  const isSpeculated = started.speculated !== undefined
  return runPolicy(started.permissions, config.policy, standing, lines, { expireMs, isSpeculated })
}

/** The program of a run, and how the programs that it starts as calls are opened. */
export function programsOf(
  context: EngineContext,
  journal: Journal,
  prepared: Prepared,
  readDeliveries: ReadDeliveries,
): ReturnType<typeof pinCapabilities> {
  return pinCapabilities(context.capabilities, journal, {
    program: rootOf(context, journal, prepared, readDeliveries),
    nest: context.programs.nest(journal, readDeliveries),
  })
}

function rootOf(context: EngineContext, journal: Journal, prepared: Prepared, readDeliveries: ReadDeliveries): Program {
  return journal.started.mode === 'explore'
    ? explorationProgram(journal, { ...context, policy: policyOf(context, journal) })
    : context.programs.root(prepared, journal, readDeliveries)
}
