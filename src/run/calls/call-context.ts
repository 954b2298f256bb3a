/** What a run has at hand: where it is written, who makes its calls, and what they may cost. */
import type { Attendant, Catalog } from '#catalog'
import type { ArgumentOrigin, Budget, NestedSource, Plan, Program } from '#model'
import type { Chain, Secrets } from '#record'
import type { RunPolicy } from '#run/policy'
import type { Journal, Settlement } from '#run/record'
import type { ResultSource } from './mocks.ts'
import type { WorkQueue } from './work-queue.ts'

/** What a conductor needs of the world. */
export type RunContext = {
  chain: Chain
  catalog: Pick<Catalog, 'tool' | 'sessionTool' | 'near' | 'problemOf' | 'problemOfServer'>
  /** Makes the calls. */
  queue: WorkQueue
  secrets: Secrets
  journal: Journal
  /** The client that is there while the run is under way; a resumed run may have none. */
  attendant?: Attendant
  /** Rules are tried in order; what humans write during the run stands after those of all runs. */
  policy: RunPolicy
  /** In a dry run: what a call would have got. */
  mocked: ResultSource | null
  /** What is known of where a call's arguments come from. */
  originsOf: (call: { id: string; tool: string; args: string; task?: string }) => ArgumentOrigin[]
  now: () => number
  /** Rejects when the signal is aborted. */
  pause: (ms: number, signal: AbortSignal) => Promise<void>
  program: Program
  /** A program that runs as a call: the same id always gives the same chance. */
  nest(source: NestedSource, args: string, id: string, now: number): Promise<Program>
  /** The end of the run has its place in the record, and is not yet on disk. */
  ended?: (settlement: Settlement) => void
}

/** What its calls need: the same, and what the plan says of all of them. */
export type CallContext = Omit<RunContext, 'program' | 'nest' | 'ended'> & { budget: Budget; plan: Plan['kind'] }
