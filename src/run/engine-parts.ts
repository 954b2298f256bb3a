/** What the engine is opened with, and what it does with runs. */
import type { Catalog } from '#catalog'
import type { Actor, CapabilitySource, Config, Event, EventBodies, EventType, Json, RunId } from '#model'
import type { Store } from '#record'
import type { WorkQueue } from '#run/calls'
import type { Makers } from '#run/program'
import type { Settlement } from '#run/record'
import type { AskedRequest, Capabilities, RunRequest } from '#run/start'
import type { ReplayCheck } from '#run/state'
import type { Boxes } from '#sandbox'

export type Engine = {
  /** Refuses a key that a run has already; the store knows that run by then. */
  start(request: AskedRequest): Promise<ActiveRun>
  /** Whether the run was started with this very request. */
  isOf(run: RunId, request: AskedRequest): boolean
  resume(run: RunId, by: string, live?: Live): Promise<ActiveRun>
  /** Goes another way from call `at` on; that call gets `args` where they are given. */
  fork(run: RunId, at: number, args: Json | undefined, actor: Actor): Promise<ActiveRun>
  /** Compares the program with the record; calls nothing. */
  replay(run: RunId): Promise<ReplayCheck>
  /**
   * Plays a run's record into another source for the same: whether it issues the same calls and
   * ends with the same result, values compared. Nothing is called, and no run begins.
   */
  rehearse(run: RunId, source: CapabilitySource, args: Json): Promise<ReplayCheck>
  /** What another source would have made of it, with the answers that it got. Nothing is called. */
  attempt(run: RunId, source: CapabilitySource, args: Json): Promise<Attempt>
  activeRun(run: RunId): ActiveRun | undefined
  /** Whether there is a run under way here, or about to be. */
  isBusy(): boolean
  /** Lets go of every run, so that it can be taken up elsewhere. */
  close(): Promise<void>
}

/** What another source would have made of a run: what failed went well, or the other way round. */
export type Attempt = 'repair' | 'regression' | 'tie' | 'unknown'

export type ActiveRun = {
  run: RunId
  settled: Promise<Settlement>
  /** Resolves with the first question to a human. */
  asked: Promise<void>
  /**
   * Resolves when its end has its place in the record: what will be said of it can be made while
   * that reaches the disk.
   */
  ended: Promise<Settlement>
  /** Resolves when all that happened so far is on disk, so that it may be spoken of. */
  durable(): Promise<void>
  /**
   * All its events, where this process wrote them from the first on and they are small; else null,
   * and the store has them.
   */
  cachedEvents(only?: EventType): Event[] | null
  cancel(asked: EventBodies['cancel.asked']): void
  leave(): Promise<void>
}

/** What a run has only while it is under way here. */
export type Live = Pick<RunRequest, 'attendant'>

export type EngineParts = {
  store: Store
  boxes: Boxes
  catalog: Catalog
  config: Config
  now?: () => number
  /** Makes the calls; the catalogue, in this process, by default. */
  queue?: WorkQueue
  /** Programs that the engine does not make itself. */
  makers?: Makers
  /** What was learned, for calls of it; nothing unless told otherwise. */
  capabilities?: Capabilities
  /** Told of every run that came to rest under this owner. */
  settled?: (run: RunId) => void
}
