/**
 * What a run's calls have at hand: where they are written, who makes them, what they may cost, and
 * whom they tell.
 */
import type { Attendant, Catalog } from '#catalog'
import type { AppError, ArgumentOrigin, Budget, Delivery, NestedSource, Plan, Program } from '#model'
import type { Chain, Secrets } from '#record'
import type { RunPolicy } from '#run/policy'
import type { Journal } from './journal.ts'
import type { ResultSource } from './mocks.ts'
import type { Settlement } from './run-end.ts'
import type { WorkQueue } from './work-queue.ts'

export type CallContext = {
  chain: Chain
  catalog: Pick<Catalog, 'tool' | 'sessionTool' | 'near' | 'problemOf' | 'problemOfServer'>
  /** Whoever makes the calls. */
  queue: WorkQueue
  secrets: Secrets
  journal: Journal
  /** Who is there while the run is under way; a run that is resumed may have nobody. */
  attendant?: Attendant
  /** Rules are tried in order; what humans write during the run stands after those of all runs. */
  policy: RunPolicy
  budget: Budget
  plan: Plan['kind']
  /** In a dry run: what a call would have got. */
  pretend: ResultSource | null
  /** What is known of where a call's arguments come from. */
  originsOf: (call: { id: string; tool: string; args: string; task?: string }) => ArgumentOrigin[]
  now: () => number
  /** Rejects when the signal is aborted. */
  pause: (ms: number, signal: AbortSignal) => Promise<void>
  /**
   * True when the run is being ended from outside or by an error of its own: nothing more is sent.
   */
  isStopped: () => boolean
  /** A result took its place in the record. */
  resolved: (program: string, delivery: Delivery) => void
  /** A human was asked about a call. */
  asked: () => void
  /** A call came to rest without a result. */
  rested: () => void
  /** The time of a program that runs as a call is over. */
  late: (program: string, timeoutMs: number) => void
  /** A server lost what the run had built up in it: the run cannot go on. */
  lost: (error: AppError) => void
  /** The record refused an append: nothing more may happen. */
  broken: (error: unknown) => void
}

/** What a conductor needs of the world: the same, before there are calls. */
export type RunContext = Pick<
  CallContext,
  | 'attendant'
  | 'chain'
  | 'journal'
  | 'catalog'
  | 'queue'
  | 'secrets'
  | 'policy'
  | 'pretend'
  | 'originsOf'
  | 'now'
  | 'pause'
> & {
  program: Program
  /** A program that runs as a call: the same id always gives the same chance. */
  nest(source: NestedSource, args: string, id: string, now: number): Promise<Program>
  /** The end of the run has its place in the record, and is not yet on disk. */
  ended?: (settlement: Settlement) => void
}
