/**
 * The store of one home: starts and takes runs, reads what was recorded, and passes on what others
 * say.
 */
import {
  type Event,
  type EventBodies,
  type EventType,
  type InboxType,
  limits,
  type ProcessId,
  type RecordedBody,
  type RunId,
  type RunStatus,
  type Stored,
} from '#model'
import {
  createHome,
  homePaths,
  isProcessAlive,
  lockProcess,
  refuseHalfRestored,
  removeDead,
  removeLock,
  sealingKey,
  sealText,
} from '#record/disk'
import type { PurgedBy } from '#record/ledger'
import { entriesOf, ownedByAnother, prepareDatabase, type RunTakeover } from '#record/ledger'
import type { SealedSecret } from '#record/secrets'
import { openWriter } from '#record/writer'
import type { ApprovalRow } from './approval-index.ts'
import type { BackedUp } from './backup.ts'
import { type Chain, type ChainWorld, type InboxItem, openChain } from './chain.ts'
import { openFlushTimer } from './flush-timer.ts'
import { type Arrival, openReader, type PinType, type RunRow, type Stats } from './reader.ts'
import { type Look, sendTo } from './send.ts'
import { watchChanges } from './watch-changes.ts'

export type Store = {
  readonly home: string
  /** What a command at a terminal needs to find this home, with a space before it. */
  readonly homeOption: string
  readonly process: ProcessId
  /** Processes that had the home open and did not close it: found dead when we opened it. */
  readonly deadProcesses: readonly ProcessId[]
  /**
   * Synchronous: the run's row, run.started and the home's run.opened are one transaction, durable
   * with `chain.durable()`.
   */
  startRun(run: RunId, body: EventBodies['run.started']): Chain
  /** Takes over a run whose owner is dead or gone, or that this process lost hold of. */
  takeRun(run: RunId): Promise<Chain>
  /** Newest first. */
  runs(options?: { limit?: number; status?: readonly RunStatus[] }): RunRow[]
  run(run: RunId): RunRow | undefined
  /** Ids of runs that begin so, in their order. */
  runsStartingWith(prefix: string, limit: number): RunId[]
  /** The run that was started with this key, also if it was purged since. */
  runByKey(key: string): RunId | undefined
  isPurged(run: RunId): boolean
  /** How many events a chain has. */
  count(run: string): number
  events(run: string, options?: { after?: number; type?: EventType }): Event[]
  /** The pins of one tool, in the order of the chain, after its n-th event. */
  pinsOf(tool: string, after: number): Event<PinType>[]
  /** The newest pin of any tool. */
  lastPin(): { type: PinType; n: number; hash: string } | undefined
  /** The hash of the home's n-th event, if it is of this type. */
  homeHash(type: PinType, n: number): string | undefined
  /**
   * How each of these runs began, without the rest of their chains; nothing of a run that was
   * purged.
   */
  startedEvents(runs: readonly RunId[]): Map<RunId, RecordedBody<'run.started'>>
  /** The same as they stand: the exact lines. */
  lines(run: string, options?: { after?: number }): string[]
  /** Events of all chains after a place in the record, in the order of their arrival. */
  eventsSince(seq: number, limit: number): Arrival[]
  /** The event of a line. */
  parse(line: string): Event
  /** Those that are open, of all runs, in the order in which they were asked for. */
  openApprovals(): ApprovalRow[]
  /** One of a run that is not finished, open or not. */
  approval(id: string): ApprovalRow | undefined
  /** The JSON text of a member of an event, also of one that stands as a blob. */
  text(member: Stored<unknown>): string
  value<Value>(member: Stored<Value>): Value
  /** Its first characters and its size, without reading all of it. */
  previewText(member: Stored<unknown>, characters: number): { text: string; bytes: number }
  /**
   * An answer for a run that another process may own. With `look`, only if what it looked at is
   * still so when the answer is written; it is asked again where something changed.
   */
  send<Type extends InboxType>(run: RunId, type: Type, body: EventBodies[Type], look?: Look): Promise<void>
  /** What was sent to a run and not taken up yet, in the order in which it came. */
  inbox(run: RunId): InboxItem[]
  /** True values of the secrets of a run that is not finished. */
  sealed(run: RunId): SealedSecret[]
  /** The runs with messages in their inbox that were not taken yet. */
  runsWithInbox(): RunId[]
  appendHome<Type extends EventType>(type: Type, body: EventBodies[Type]): Promise<void>
  onChange(listener: () => void): () => void
  isAlive(process: ProcessId): boolean
  checkpoint(): Promise<{ n: number; heads: number }>
  /** Removes a finished run; the record says at whose word. */
  purge(run: RunId, by: PurgedBy): Promise<void>
  /** Purges what was finished more than so many days ago: of it what `choose` answers with. */
  expire(days: number, by: PurgedBy, choose?: (old: RunId[]) => Promise<RunId[]>): Promise<RunId[]>
  /** Copies the record while it is in use, and verifies the copy. */
  backup(file: string): Promise<BackedUp>
  stats(): Stats
  close(): Promise<void>
}

/**
 * `homeOption` is what a command at a terminal needs to find this home, with a space before it;
 * nothing where it finds it by itself.
 */
export type StoreOptions = { home: string; homeOption?: string; now?: () => number; create?: boolean }

export async function openStore({
  home,
  homeOption = '',
  now: clock = Date.now,
  create = true,
}: StoreOptions): Promise<Store> {
  const now = () => Math.trunc(clock())
  const paths = homePaths(home)
  refuseHalfRestored(home)
  if (create) createHome(home)
  prepareDatabase(paths.database, create)
  const lock = lockProcess(paths.processes)
  const dead = removeDead(paths.processes, lock.process)
  let key: Uint8Array | undefined
  const seal = () => (key ??= sealingKey(paths.keys))
  const isAlive = (process: ProcessId) => process === lock.process || isProcessAlive(paths.processes, process)
  const reader = openReader(home, seal, isAlive)
  const changes = watchChanges(reader.database)
  const queue = openWriter({ home, process: lock.process }, () => void checkpoint().catch(() => {}))
  const timer = setInterval(() => queue.isUsed() && void checkpoint().catch(() => {}), limits.checkpointMsMax).unref()
  const world: ChainWorld = {
    queue,
    now,
    sealingKey: seal,
    readInbox: reader.inbox,
    onInbox: changes.onInbox,
    buffer: openFlushTimer(),
  }

  function startRun(run: RunId, body: EventBodies['run.started']): Chain {
    queue.start()
    const opens = { key: body.key ?? null, intent: body.intent }
    const chain = openChain({ run, epoch: 1, n: 0, at: 0, opens, sealed: [], asking: new Map() }, world)
    chain.append('run.started', body)
    return chain
  }

  async function takeRun(run: RunId): Promise<Chain> {
    const { owner, epoch } = reader.owner(run)
    const isForeign = owner !== null && owner !== lock.process
    if (isForeign && isAlive(owner)) throw ownedByAnother(run, owner)
    const taken = await queue.write({ kind: 'take', run, owner, epoch })
    if (isForeign) removeLock(paths.processes, owner)
    const { sealed, asking } = reader
    return openChain({ run, ...(taken as RunTakeover), opens: null, sealed: sealed(run), asking: asking(run) }, world)
  }

  async function send<Type extends InboxType>(
    run: RunId,
    type: Type,
    body: EventBodies[Type],
    look?: Look,
  ): Promise<void> {
    const sealed = (to: RunId, text: string) => sealText(text, to, seal())
    await sendTo({ queue, lastInbox: reader.lastInbox, seal: sealed }, run, type, body, look)
    changes.look()
  }

  async function checkpoint(): Promise<{ n: number; heads: number }> {
    return (await queue.write({ kind: 'checkpoint', at: now() })) as { n: number; heads: number }
  }

  async function purge(run: RunId, by: PurgedBy): Promise<void> {
    await queue.write({ kind: 'purge', run, at: now(), by })
  }

  const expire: Store['expire'] = async (days, by, choose = async (old) => old) => {
    const old = reader.finishedBefore(now() - days * 24 * 60 * 60 * 1000)
    const leaving = old.length === 0 ? [] : await choose(old)
    for (const run of leaving) await purge(run, by)
    return leaving
  }

  let closed: Promise<void> | undefined
  async function closeOnce(): Promise<void> {
    clearInterval(timer)
    changes.stop()
    world.buffer.postAll()
    try {
      if (queue.isUsed()) await checkpoint()
    } finally {
      reader.database.close()
      await queue.close()
      lock.release()
    }
  }

  return {
    home,
    homeOption,
    process: lock.process,
    deadProcesses: dead,
    startRun,
    takeRun,
    runs: reader.runs,
    runsStartingWith: reader.runsStartingWith,
    run: reader.run,
    runByKey: reader.runByKey,
    isPurged: reader.isPurged,
    count: reader.count,
    events: reader.events,
    pinsOf: reader.pinsOf,
    lastPin: reader.lastPin,
    homeHash: reader.homeHash,
    lines: reader.lines,
    eventsSince: reader.eventsSince,
    parse: reader.parse,
    startedEvents: reader.started,
    openApprovals: reader.openApprovals,
    approval: reader.approval,
    text: reader.text,
    value: reader.value,
    previewText: reader.previewText,
    send,
    inbox: reader.inbox,
    sealed: reader.sealed,
    runsWithInbox: reader.runsWithInbox,
    appendHome: async (type, body) => void (await queue.write({ kind: 'home', entries: entriesOf(type, now(), body) })),
    onChange: changes.onChange,
    isAlive,
    checkpoint,
    purge,
    expire,
    async backup(file) {
      const { backUp } = await import('./backup.ts')
      return backUp(home, reader.database, file)
    },
    stats: reader.stats,
    close: () => (closed ??= closeOnce()),
  }
}
