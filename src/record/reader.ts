/** Everything that is read from the record, on the main thread, beside the writer. */
import type { DatabaseSync } from 'node:sqlite'
import {
  type BlobReference,
  type Event,
  type EventType,
  homeChain,
  type ProcessId,
  type RecordedBody,
  type RunId,
  type RunStatus,
  type Stored,
  toText,
} from '#model'
import { homePaths, openSealed, readBlob, readBlobStart, sealContext } from '#record/disk'
import {
  blobOf,
  brokenChain,
  chainQuery,
  firstEvents,
  homePins,
  indexedHomeEvents,
  openForReading,
  parseEvent,
  pinnedTool,
} from '#record/ledger'
import type { SealedSecret } from '#record/secrets'
import { openApprovalReads } from './approval-index.ts'
import type { InboxItem } from './chain.ts'

export type RunRow = {
  run: RunId
  status: RunStatus
  intent: string | null
  startedAt: string
  callCount: number
  key: string | null
  owner: ProcessId | null
  epoch: number
  /** Hash of the last event, and how many there are. */
  head: string
  count: number
}

/** Events of the home that say which definition of a tool holds. */
const pinTypes = ['tool.pinned', 'tool.changed', 'tool.accepted'] as const
export type PinType = (typeof pinTypes)[number]

export type Stats = { events: number; runs: Partial<Record<RunStatus, number>>; calls: number; bytes: number }

/**
 * An event of any chain as its row has it. `hash` tells it from one that stood in its place before
 * a backup was restored.
 */
export type Arrival = { seq: number; run: string; n: number; hash: string; line: string }

type ArrivalRow = [seq: number, run: string, n: number, hash: string, line: string]

type ChainRow = { n: number; type: string; line: string }

const runColumns = 'run, status, intent, started_at, call_count, key, owner, epoch, hash, n'
const runsWithRequests = `SELECT ${runColumns} FROM run JOIN request USING (id)`

export function openReader(home: string, sealingKey: () => Uint8Array, isAlive: (process: ProcessId) => boolean) {
  const database = openForReading(homePaths(home).database)
  const byRun = database.prepare(`${runsWithRequests} WHERE run = ?`)
  const owner = database.prepare('SELECT owner, epoch FROM run WHERE run = ?')
  const newest = database.prepare(`${runsWithRequests} ORDER BY started_at DESC, run DESC LIMIT ?`)
  const newestOf = database.prepare(
    `${runsWithRequests} WHERE status IN (SELECT value FROM json_each(?)) ORDER BY started_at DESC, run DESC LIMIT ?`,
  )
  const byKey = database.prepare(
    'SELECT run FROM request JOIN run USING (id) WHERE key = ? UNION ALL SELECT run FROM purged WHERE key = ?',
  )
  const starting = database.prepare('SELECT run FROM run WHERE run >= ? AND run < ? ORDER BY run LIMIT ?')
  const isPurged = database.prepare('SELECT 1 FROM purged WHERE run = ?')
  const finished = database.prepare(
    `SELECT run FROM run WHERE status IN ('done', 'failed', 'cancelled') AND at < ? ORDER BY at`,
  )
  const backwards = database.prepare(chainQuery(['n', 'type', 'line']))
  const firsts = database.prepare(firstEvents)
  const count = database.prepare('SELECT n FROM run WHERE run = ?')
  const rare = database.prepare(`SELECT line FROM event WHERE ${indexedHomeEvents} AND type = ? AND n > ? ORDER BY n`)
  const pins = database.prepare(`SELECT line FROM event WHERE ${homePins} AND ${pinnedTool} = ? AND n > ? ORDER BY n`)
  const lastPins = database.prepare(
    `SELECT type, n, hash FROM event WHERE ${indexedHomeEvents} AND type = ? ORDER BY n DESC LIMIT 1`,
  )
  const rareHash = database.prepare(`SELECT hash FROM event WHERE ${indexedHomeEvents} AND type = ? AND n = ?`)
  const inbox = database.prepare('SELECT id, type, box AS ciphertext FROM inbox WHERE run = ? ORDER BY id')
  const lastInbox = database.prepare('SELECT coalesce(max(id), 0) AS last FROM inbox WHERE run = ?')
  const withInbox = database.prepare('SELECT DISTINCT run FROM inbox')
  const sealed = database.prepare('SELECT placeholder, server, box AS ciphertext FROM sealed WHERE run = ?')

  /**
   * The events after a number, in their order; throws where the links do not lead to all of them.
   */
  function chainRows(run: string, after: number): ChainRow[] {
    const rows = backwards.all(run, after) as ChainRow[]
    rows.reverse()
    for (const [i, { n }] of rows.entries()) if (n !== after + i + 1) throw brokenChain(run, after + i + 1)
    if (rows.length === 0 && countOf(run) > after) throw brokenChain(run, after + 1)
    return rows
  }

  const { blobs } = homePaths(home)
  const blobText = (reference: BlobReference) => readBlob(blobs, reference)
  const parse = (line: unknown) => parseEvent(line as string, blobText)

  function textOf(member: Stored<unknown>): string {
    const blob = blobOf(member)
    return blob === null ? toText(member as unknown) : blobText(blob)
  }

  /** How many events a chain has; none where there is no such chain. */
  function countOf(run: string): number {
    return (count.get(run)?.n as number | undefined) ?? 0
  }

  return {
    database,
    run(run: RunId): RunRow | undefined {
      const row = byRun.get(run)
      return row && toRunRow(row, isAlive)
    },
    /** As it stands in the row, alive or not; null where there is no such run. */
    owner: (run: RunId) => (owner.get(run) ?? { owner: null, epoch: 0 }) as { owner: ProcessId | null; epoch: number },
    runs({ limit = -1, status }: { limit?: number; status?: readonly RunStatus[] } = {}): RunRow[] {
      const known = new Map<ProcessId, boolean>()
      const isAliveOnce = (process: ProcessId) => {
        if (!known.has(process)) known.set(process, isAlive(process))
        return known.get(process)!
      }
      if (!status) return newest.all(limit).map((row) => toRunRow(row, isAliveOnce))
      // A run whose process is gone is still "running" in its row.
      const stored = status.includes('interrupted') ? [...status, 'running'] : status
      const rows = newestOf.all(JSON.stringify(stored), -1).map((row) => toRunRow(row, isAliveOnce))
      const found = rows.filter((row) => status.includes(row.status))
      return limit < 0 ? found : found.slice(0, limit)
    },
    /** Ids are of hexadecimal digits and hyphens, all of which come before "g". */
    runsStartingWith: (prefix: string, limit: number) =>
      starting.all(prefix, `${prefix}g`, limit).map(({ run }) => run as RunId),
    runByKey: (key: string) => byKey.get(key, key)?.run as RunId | undefined,
    finishedBefore: (at: number) => finished.all(at).map(({ run }) => run as RunId),
    count: countOf,
    isPurged: (run: RunId) => isPurged.get(run) !== undefined,
    events(run: string, { after = 0, type }: { after?: number; type?: EventType } = {}): Event[] {
      const isRare = run === homeChain && type && type !== 'run.opened' && type !== 'run.closed'
      if (isRare) return rare.all(type, after).map(({ line }) => parse(line))
      return chainRows(run, after).flatMap((row) => (type && row.type !== type ? [] : [parse(row.line)]))
    },
    pinsOf: (tool: string, after: number) => pins.all(tool, after).map(({ line }) => parse(line) as Event<PinType>),
    lastPin() {
      const newest = pinTypes.flatMap((type) => lastPins.all(type)) as { type: PinType; n: number; hash: string }[]
      return newest.sort((left, right) => right.n - left.n)[0]
    },
    homeHash: (type: PinType, n: number) => rareHash.get(type, n)?.hash as string | undefined,
    started(runs: readonly RunId[]): Map<RunId, RecordedBody<'run.started'>> {
      const events = firsts.all(JSON.stringify(runs)).map(({ line }) => parse(line) as Event<'run.started'>)
      return new Map(events.map(({ run, body }) => [run as RunId, body]))
    },
    lines: (run: string, { after = 0 }: { after?: number } = {}) => chainRows(run, after).map(({ line }) => line),
    eventsSince: openArrivals(database),
    parse,
    text: textOf,
    value: <Value>(member: Stored<Value>): Value => (blobOf(member) ? JSON.parse(textOf(member)) : member) as Value,
    previewText(member: Stored<unknown>, characters: number) {
      const blob = blobOf(member)
      if (blob === null) return glimpseOf(textOf(member), characters)
      return { text: readBlobStart(blobs, blob, 4 * characters).slice(0, characters), bytes: blob.bytes }
    },
    inbox: (run: RunId) => (inbox.all(run) as InboxRow[]).map((row) => openInboxRow(row, run, sealingKey())),
    lastInbox: (run: RunId) => lastInbox.get(run)!.last as number,
    runsWithInbox: () => withInbox.all().map(({ run }) => run as RunId),
    sealed: (run: RunId) => (sealed.all(run) as SealedRow[]).map((row) => openSealedRow(row, run, sealingKey())),
    ...openApprovalReads(database, blobText),
    stats: () => readStats(database, isAlive),
  }
}

/** Rows as arrays: the driver makes objects as dictionaries, which takes twice the time. */
function openArrivals(database: DatabaseSync): (seq: number, limit: number) => Arrival[] {
  const since = database.prepare('SELECT seq, run, n, hash, line FROM event WHERE seq > ? ORDER BY seq LIMIT ?')
  since.setReturnArrays(true)
  return (after, limit) =>
    (since.all(after, limit) as unknown as ArrivalRow[]).map(([seq, run, n, hash, line]) => ({
      seq,
      run,
      n,
      hash,
      line,
    }))
}

function glimpseOf(text: string, characters: number): { text: string; bytes: number } {
  return { text: text.slice(0, characters), bytes: Buffer.byteLength(text) }
}

function toRunRow(row: Record<string, unknown>, isAlive: (process: ProcessId) => boolean): RunRow {
  const owner = row.owner as ProcessId | null
  const isAbandoned = row.status === 'running' && (owner === null || !isAlive(owner))
  return {
    run: row.run as RunId,
    status: isAbandoned ? 'interrupted' : (row.status as RunStatus),
    intent: row.intent as string | null,
    startedAt: new Date(row.started_at as number).toISOString(),
    callCount: row.call_count as number,
    key: row.key as string | null,
    owner,
    epoch: row.epoch as number,
    head: row.hash as string,
    count: row.n as number,
  }
}

/** Of what is kept: what was purged is counted no longer. */
function readStats(database: DatabaseSync, isAlive: (process: ProcessId) => boolean): Stats {
  const rows = database
    .prepare(
      'SELECT status, owner, count(*) AS runs, sum(call_count) AS calls, sum(n) AS events FROM run GROUP BY 1, 2',
    )
    .all() as { status: RunStatus | 'home'; owner: ProcessId | null; runs: number; calls: number; events: number }[]
  const stats: Stats = { events: 0, runs: {}, calls: 0, bytes: 0 }
  for (const { status, owner, runs, calls, events } of rows) {
    stats.events += events
    stats.calls += calls
    if (status === 'home') continue
    const isAbandoned = status === 'running' && (owner === null || !isAlive(owner))
    const now = isAbandoned ? 'interrupted' : status
    stats.runs[now] = (stats.runs[now] ?? 0) + runs
  }
  const pages = database.prepare('PRAGMA page_count').get()!.page_count as number
  const size = database.prepare('PRAGMA page_size').get()!.page_size as number
  return { ...stats, bytes: pages * size }
}

type InboxRow = { id: number; type: InboxItem['type']; ciphertext: Uint8Array }

function openInboxRow({ id, type, ciphertext }: InboxRow, run: RunId, key: Uint8Array): InboxItem {
  return { id, type, body: JSON.parse(openSealed(ciphertext, run, key)) }
}

type SealedRow = { placeholder: string; server: string; ciphertext: Uint8Array }

function openSealedRow({ placeholder, server, ciphertext }: SealedRow, run: RunId, key: Uint8Array): SealedSecret {
  return { placeholder, server, value: openSealed(ciphertext, sealContext(run, placeholder, server), key) }
}
