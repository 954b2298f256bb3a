/**
 * The chains inside the database: transactions, heads, and the one place where an event is
 * inserted.
 */
import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { AppError, homeChain, limits } from '#model'
import { type BlobBytes, homePaths, isBusy, signingKey, syncFolder, writeBlob } from '#record/disk'
import type { Head, OwnedHead, OwnedHeads } from './chain-head.ts'
import { lineHash, lineText } from './event-line.ts'
import { openForWriting, refuseNewer } from './schema.ts'
import type { Entries } from './write-request.ts'

export type Ledger = {
  home: string
  process: string
  database: DatabaseSync
  /**
   * Whether it waits while another process writes; else it says at once that the database is busy.
   */
  waits: boolean
  /** A prepared statement, made once. */
  sql(text: string): StatementSync
  /** Signs checkpoints; made or read with the first. */
  signingKey(): KeyObject
  /** Each write asserts that they are still true. */
  owned: OwnedHeads
  /**
   * The write-ahead log: its file, how many pages of it were used and how many it had when last
   * seen.
   */
  log: { file: string; used: number; room: number }
  /** What the transaction has appended and not yet inserted. */
  pending: Pending
}

type Pending = {
  /** The highest of all events, those not yet inserted included; after a commit, as it left it. */
  lastSeq: number
  values: (string | number | null)[]
  /** The home's head after what was appended to it, if anything was. */
  home: Head | null
  /** Heads of ours that it moved; null where it gave one up. */
  heads: Map<string, OwnedHead | null>
}

const columns = 7
/** Many rows in one statement cost half of a statement each. */
const rowsPerInsert = 32
const inserts = Array.from({ length: rowsPerInsert + 1 }, (_, rows) => {
  const values = Array(rows).fill('(?, ?, ?, ?, ?, ?, ?)').join(', ')
  return `INSERT INTO event (seq, run, n, type, line, hash, previous) VALUES ${values}`
})

export function openLedger(home: string, process: string, waits = true): Ledger {
  const file = homePaths(home).database
  if (!existsSync(file))
    throw new AppError('LEDGER_BROKEN', `Cannot write the record: ${file} is gone. Restore a backup`)
  const database = openForWriting(file)
  database.exec(`PRAGMA busy_timeout = ${waits ? limits.storeBusyStepMs : 0}; PRAGMA wal_autocheckpoint = 0`)
  const prepared = new Map<string, StatementSync>()
  const sql = (text: string) => {
    const statement = prepared.get(text) ?? database.prepare(text)
    prepared.set(text, statement)
    return statement
  }
  let key: KeyObject | undefined
  const readKey = () => {
    key ??= signingKey(homePaths(home).keys)
    return key
  }
  const pending = { lastSeq: 0, values: [], home: null, heads: new Map() }
  const log = { file: `${file}-wal`, used: 0, room: 0 }
  return { home, process, database, waits, sql, signingKey: readKey, owned: new Map(), log, pending }
}

/**
 * All of it or nothing, on disk when it returns. Another process's writes come before or after,
 * never between.
 */
export function inTransaction<T>(ledger: Ledger, work: () => T): T {
  const { database, sql } = ledger
  begin(ledger)
  try {
    refuseNewer((sql('PRAGMA user_version').get() as { user_version: number }).user_version)
    ledger.pending = { lastSeq: lastSeq(ledger), values: [], home: null, heads: new Map() }
    const value = work()
    insertPending(ledger)
    moveHome(ledger)
    sql('COMMIT').run()
    keepHeads(ledger)
    return value
  } catch (error) {
    if (database.isTransaction) sql('ROLLBACK').run()
    throw error
  }
}

/**
 * After COMMIT only: a request that is refused or tried again must still find the heads as they
 * were before it.
 */
function keepHeads({ owned, pending: { heads } }: Ledger): void {
  for (const [run, head] of heads) {
    if (head === null) owned.delete(run)
    else owned.set(run, head)
  }
}

function begin({ sql, waits }: Ledger): void {
  const deadline = performance.now() + limits.storeBusyMsMax
  for (;;) {
    try {
      return void sql('BEGIN IMMEDIATE').run()
    } catch (error) {
      if (!isBusy(error) || !waits || performance.now() > deadline) throw error
    }
  }
}

const nothingMade = { lines: [], hashes: [] }

/**
 * Appends to a chain after its head, blobs too; the new head is still to be written to the chain's
 * row.
 */
export function appendEvents(ledger: Ledger, run: string, head: Head, entries: Entries): Head {
  const { types, ats, bodies, blobs, made } = entries
  const { lines, hashes } = made?.from === head.hash ? made : nothingMade
  const { pending } = ledger
  let { n, hash, at, seq } = head
  for (let i = 0; i < types.length; i++) {
    n += 1
    at = Math.max(at, ats[i]!)
    const line = lines[i] ?? lineText(run, n, at, types[i]!, bodies[i]!)
    hash = hashes[i] ?? lineHash(hash, line)
    const previous = seq
    seq = ++pending.lastSeq
    pending.values.push(seq, run, n, types[i]!, line, hash, previous)
    if (pending.values.length === columns * rowsPerInsert) insertPending(ledger)
  }
  if (blobs.length > 0) writeBlobs(ledger, run, blobs)
  return { n, hash, at, seq }
}

function insertPending({ sql, pending }: Ledger): void {
  if (pending.values.length === 0) return
  sql(inserts[pending.values.length / columns]!).run(...pending.values)
  pending.values = []
}

export function appendHome(ledger: Ledger, entries: Entries): Head {
  const { pending, sql } = ledger
  const before = pending.home ?? (sql('SELECT n, hash, at, seq FROM run WHERE run = ?').get(homeChain) as Head)
  pending.home = appendEvents(ledger, homeChain, before, entries)
  return pending.home
}

function moveHome({ sql, pending: { home } }: Ledger): void {
  if (home === null) return
  sql('UPDATE run SET n = ?, hash = ?, at = ?, seq = ? WHERE run = ?').run(
    home.n,
    home.hash,
    home.at,
    home.seq,
    homeChain,
  )
}

/** The seq of the newest event of all, also of those that other processes wrote. */
export function lastSeq({ sql }: Ledger): number {
  return (sql('SELECT coalesce(max(seq), 0) AS seq FROM event').get() as { seq: number }).seq
}

/**
 * On disk before the commit that names them, and after the start of the transaction: no purge comes
 * between.
 */
function writeBlobs({ home, sql }: Ledger, run: string, blobs: BlobBytes[]): void {
  const folder = homePaths(home).blobs
  for (const blob of blobs) {
    writeBlob(folder, blob)
    sql('INSERT OR IGNORE INTO blob (run, digest) VALUES (?, ?)').run(run, blob.digest)
  }
  syncFolder(folder)
}
