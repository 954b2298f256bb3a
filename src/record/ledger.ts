/** The chains inside the database: transactions, heads, and the one place where an event is inserted. */
import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { AppError, homeChain, limits } from '#model'
import { writeBlob } from './blobs.ts'
import { homePaths } from './home.ts'
import { signingKey } from './keys.ts'
import { type BlobBytes, lineHash, lineText } from './line.ts'
import type { Entries } from './request.ts'
import { openForWriting, refuseNewer } from './schema.ts'
import { isBusy, isDiskError } from './store-error.ts'
import { syncFolder } from './sync-folder.ts'

export type Head = { n: number; hash: string; at: number }

export type Ledger = {
  home: string
  process: string
  database: DatabaseSync
  /** A prepared statement, made once. */
  sql(text: string): StatementSync
  /** Signs checkpoints; made or read with the first. */
  signingKey(): KeyObject
}

const columns = 5
/** Many rows in one statement cost half of a statement each. */
const rowsPerInsert = 32
const inserts = Array.from({ length: rowsPerInsert + 1 }, (_, rows) => {
  return `INSERT INTO event (run, n, type, line, hash) VALUES ${Array(rows).fill('(?, ?, ?, ?, ?)').join(', ')}`
})

export function openLedger(home: string, process: string): Ledger {
  const file = homePaths(home).database
  if (!existsSync(file))
    throw new AppError('LEDGER_BROKEN', `Cannot write the record: ${file} is gone. Restore a backup`)
  const database = openForWriting(file)
  database.exec(`PRAGMA busy_timeout = ${limits.storeBusyStepMs}; PRAGMA wal_autocheckpoint = 0`)
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
  return { home, process, database, sql, signingKey: readKey }
}

/** All of it or nothing, on disk when it returns. Another process's writes come before or after, never between. */
export function inTransaction<T>(ledger: Ledger, work: () => T): T {
  const { database, sql } = ledger
  begin(ledger)
  try {
    refuseNewer((sql('PRAGMA user_version').get() as { user_version: number }).user_version)
    const value = work()
    sql('COMMIT').run()
    return value
  } catch (error) {
    if (database.isTransaction) sql('ROLLBACK').run()
    throw error
  }
}

/** Moves a long log into the database: after the answers, so that nobody waits for it. Where it cannot, the next will. */
export function shortenLog({ sql }: Ledger): void {
  const { log, checkpointed } = sql('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number }
  if (log - checkpointed < limits.storeLogPagesMax) return
  try {
    sql('PRAGMA wal_checkpoint(PASSIVE)').get()
  } catch (error) {
    if (isDiskError(error)) throw error
  }
}

function begin({ sql }: Ledger): void {
  const deadline = performance.now() + limits.storeBusyMsMax
  for (;;) {
    try {
      return void sql('BEGIN IMMEDIATE').run()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
    }
  }
}

/** Appends to a chain after its head, blobs too; the new head is still to be written to the chain's row. */
export function appendEvents(ledger: Ledger, run: string, head: Head, { types, ats, bodies, blobs }: Entries): Head {
  let { n, hash, at } = head
  let values: (string | number)[] = []
  for (const [i, type] of types.entries()) {
    n += 1
    at = Math.max(at, ats[i]!)
    const line = lineText(run, n, at, type, bodies[i]!)
    hash = lineHash(hash, line)
    values.push(run, n, type, line, hash)
    const isFull = values.length === columns * rowsPerInsert
    if (!isFull && i + 1 < types.length) continue
    ledger.sql(inserts[values.length / columns]!).run(...values)
    values = []
  }
  if (blobs.length > 0) writeBlobs(ledger, run, blobs)
  return { n, hash, at }
}

export function appendHome(ledger: Ledger, entries: Entries): Head {
  const before = ledger.sql('SELECT n, hash, at FROM run WHERE run = ?').get(homeChain) as Head
  const { n, hash, at } = appendEvents(ledger, homeChain, before, entries)
  ledger.sql('UPDATE run SET n = ?, hash = ?, at = ? WHERE run = ?').run(n, hash, at, homeChain)
  return { n, hash, at }
}

/** On disk before the commit that names them, and after the start of the transaction: no purge comes between. */
function writeBlobs({ home, sql }: Ledger, run: string, blobs: BlobBytes[]): void {
  const folder = homePaths(home).blobs
  for (const blob of blobs) {
    writeBlob(folder, blob)
    sql('INSERT OR IGNORE INTO blob (run, digest) VALUES (?, ?)').run(run, blob.digest)
  }
  syncFolder(folder)
}
