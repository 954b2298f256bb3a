/** The chains inside the database: transactions, heads, and the one place where an event is inserted. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { homeChain } from '#model'
import { syncFolder, writeBlob } from './blobs.ts'
import { homePaths } from './home.ts'
import { lineHash, lineText } from './line.ts'
import type { Entry } from './request.ts'
import { openForWriting, refuseNewer } from './schema.ts'

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
  const prepared = new Map<string, StatementSync>()
  const sql = (text: string) => {
    const statement = prepared.get(text) ?? database.prepare(text)
    prepared.set(text, statement)
    return statement
  }
  return { home, process, database, sql }
}

/** All of it or nothing, on disk when it returns. Another process's writes come before or after, never between. */
export function inTransaction<T>({ database, sql }: Ledger, work: () => T): T {
  sql('BEGIN IMMEDIATE').run()
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

/** Appends to a chain after its head, blobs first; the new head is still to be written to the chain's row. */
export function appendEvents({ home, sql }: Ledger, run: string, head: Head, entries: Entry[]): Head {
  const insert = sql('INSERT INTO event (run, n, type, line, hash) VALUES (?, ?, ?, ?, ?)')
  let { n, hash, at } = head
  for (const entry of entries) {
    n += 1
    at = Math.max(at, entry.at)
    const line = lineText(run, n, at, entry.type, entry.body)
    hash = lineHash(hash, line)
    insert.run(run, n, entry.type, line, hash)
  }
  const blobs = entries.flatMap((entry) => entry.blobs)
  for (const blob of blobs) {
    writeBlob(homePaths(home).blobs, blob)
    sql('INSERT OR IGNORE INTO blob (run, digest) VALUES (?, ?)').run(run, blob.digest)
  }
  if (blobs.length > 0) syncFolder(homePaths(home).blobs)
  return { n, hash, at }
}

export function appendHome(ledger: Ledger, entry: Entry): Head {
  const before = ledger.sql('SELECT n, hash, at FROM run WHERE run = ?').get(homeChain) as Head
  const { n, hash, at } = appendEvents(ledger, homeChain, before, [entry])
  ledger.sql('UPDATE run SET n = ?, hash = ?, at = ? WHERE run = ?').run(n, hash, at, homeChain)
  return { n, hash, at }
}
