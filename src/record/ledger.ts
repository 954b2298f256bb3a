/** The chains inside the database: transactions, heads, and the one place where an event is inserted. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { homeChain, limits } from '#model'
import { syncFolder, writeBlob } from './blobs.ts'
import { homePaths } from './home.ts'
import { type BlobBytes, lineHash, lineText } from './line.ts'
import type { Entries } from './request.ts'
import { openForWriting, refuseNewer } from './schema.ts'
import { isBusy } from './store-error.ts'

export type Head = { n: number; hash: string; at: number }

export type Ledger = {
  home: string
  process: string
  database: DatabaseSync
  /** A prepared statement, made once. */
  sql(text: string): StatementSync
}

export function openLedger(home: string, process: string): Ledger {
  const database = openForWriting(homePaths(home).database)
  database.exec(`PRAGMA busy_timeout = ${limits.storeBusyStepMs}`)
  const prepared = new Map<string, StatementSync>()
  const sql = (text: string) => {
    const statement = prepared.get(text) ?? database.prepare(text)
    prepared.set(text, statement)
    return statement
  }
  return { home, process, database, sql }
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

/** A part of a transaction that may fail alone. What broke the whole transaction (a full disk) is thrown on. */
export function inSavepoint<T>({ database, sql }: Ledger, work: () => T): { value: T } | { error: unknown } {
  sql('SAVEPOINT part').run()
  try {
    const value = work()
    sql('RELEASE part').run()
    return { value }
  } catch (error) {
    if (!database.isTransaction) throw error
    sql('ROLLBACK TO part').run()
    sql('RELEASE part').run()
    return { error }
  }
}

/** Appends to a chain after its head, blobs too; the new head is still to be written to the chain's row. */
export function appendEvents(ledger: Ledger, run: string, head: Head, { types, ats, bodies, blobs }: Entries): Head {
  const insert = ledger.sql('INSERT INTO event (run, n, type, line, hash) VALUES (?, ?, ?, ?, ?)')
  let { n, hash, at } = head
  for (const [i, type] of types.entries()) {
    n += 1
    at = Math.max(at, ats[i]!)
    const line = lineText(run, n, at, type, bodies[i]!)
    hash = lineHash(hash, line)
    insert.run(run, n, type, line, hash)
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
