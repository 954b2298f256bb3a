/** Everything that is read from the record, on the main thread, beside the writer. */
import type { DatabaseSync } from 'node:sqlite'
import { type Event, type EventType, homeChain, type ProcessId, type RunId, type RunStatus, toText } from '#model'
import { readBlob } from './blobs.ts'
import type { InboxItem, SealedSecret } from './chain.ts'
import { sealPlace } from './chain.ts'
import { homePaths } from './home.ts'
import { isBlobReference } from './line.ts'
import { openForReading } from './schema.ts'
import { openSealed } from './seal.ts'

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

export type Stats = { events: number; runs: number; bytes: number }

export type Reader = ReturnType<typeof openReader>

const runColumns = 'run, status, intent, started_at, call_count, key, owner, epoch, hash, n'

export function openReader(home: string, sealingKey: () => Uint8Array, isAlive: (process: ProcessId) => boolean) {
  const database = openForReading(homePaths(home).database)
  const byRun = database.prepare(`SELECT ${runColumns} FROM run WHERE run = ? AND run <> '${homeChain}'`)
  const newest = database.prepare(
    `SELECT ${runColumns} FROM run WHERE run <> '${homeChain}' ORDER BY started_at DESC, run DESC LIMIT ?`,
  )
  const byKey = database.prepare('SELECT run FROM run WHERE key = ? UNION ALL SELECT run FROM purged WHERE key = ?')
  const isPurged = database.prepare('SELECT 1 FROM purged WHERE run = ?')
  const finished = database.prepare(
    `SELECT run FROM run WHERE status IN ('done', 'failed', 'cancelled') AND at < ? ORDER BY at`,
  )
  const lines = database.prepare('SELECT line FROM event WHERE run = ? AND n > ? ORDER BY n')
  const linesOfType = database.prepare('SELECT line FROM event WHERE run = ? AND n > ? AND type = ? ORDER BY n')
  const since = database.prepare('SELECT seq, line FROM event WHERE seq > ? ORDER BY seq LIMIT ?')
  const head = database.prepare('SELECT n, at FROM run WHERE run = ?')
  const inbox = database.prepare('SELECT id, type, box FROM inbox WHERE run = ? ORDER BY id')
  const sealed = database.prepare('SELECT placeholder, server, box FROM sealed WHERE run = ?')

  return {
    database,
    run(run: RunId): RunRow | undefined {
      const row = byRun.get(run)
      return row && toRunRow(row, isAlive)
    },
    runs({ limit = -1 }: { limit?: number } = {}): RunRow[] {
      const known = new Map<ProcessId, boolean>()
      const isAliveOnce = (process: ProcessId) => {
        if (!known.has(process)) known.set(process, isAlive(process))
        return known.get(process)!
      }
      return newest.all(limit).map((row) => toRunRow(row, isAliveOnce))
    },
    runByKey: (key: string) => byKey.get(key, key)?.run as RunId | undefined,
    finishedBefore: (at: number) => finished.all(at).map(({ run }) => run as RunId),
    isPurged: (run: RunId) => isPurged.get(run) !== undefined,
    events(run: string, { after = 0, type }: { after?: number; type?: EventType } = {}): Event[] {
      const rows = type ? linesOfType.all(run, after, type) : lines.all(run, after)
      return rows.map(({ line }) => JSON.parse(line as string))
    },
    eventsSince: (seq: number, limit: number) => since.all(seq, limit) as { seq: number; line: string }[],
    text: (value: unknown) => (isBlobReference(value) ? readBlob(homePaths(home).blobs, value) : toText(value)),
    head: (run: string) => head.get(run) as { n: number; at: number },
    inbox(run: RunId): InboxItem[] {
      const rows = inbox.all(run) as { id: number; type: InboxItem['type']; box: Uint8Array }[]
      return rows.map(({ id, type, box }) => ({ id, type, body: JSON.parse(openSealed(box, run, sealingKey())) }))
    },
    sealed(run: RunId): SealedSecret[] {
      const rows = sealed.all(run) as { placeholder: string; server: string; box: Uint8Array }[]
      return rows.map(({ placeholder, server, box }) => {
        return { placeholder, server, value: openSealed(box, sealPlace(run, placeholder, server), sealingKey()) }
      })
    },
    stats: () => readStats(database),
  }
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

function readStats(database: DatabaseSync): Stats {
  const counts = database
    .prepare(`SELECT (SELECT count(*) FROM event) AS events, (SELECT count(*) - 1 FROM run) AS runs`)
    .get() as { events: number; runs: number }
  const pages = database.prepare('PRAGMA page_count').get()!.page_count as number
  const size = database.prepare('PRAGMA page_size').get()!.page_size as number
  return { ...counts, bytes: pages * size }
}
