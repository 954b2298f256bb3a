/**
 * The write-ahead log of the database: moved into it when it is long, lengthened ahead of the
 * commits that will need it.
 */
import { closeSync, fdatasyncSync, openSync, statSync } from 'node:fs'
import { limits } from '#model'
import { isDiskError } from '#record/disk'
import { setPageCache } from './schema.ts'
import type { Ledger } from './transaction.ts'

const pageBytes = 4096
const logPageBytes = pageBytes + 24

/**
 * After the answers, so that no writer waits for it: a long log is moved into the database, a full
 * one gets room.
 */
export function maintainWal(ledger: Ledger): void {
  const { log, checkpointed } = ledger.sql('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number }
  const written = log - ledger.log.used
  ledger.log.used = log
  try {
    if (log - checkpointed >= limits.storeLogPagesMax) ledger.sql('PRAGMA wal_checkpoint(PASSIVE)').get()
    else if (log > limits.storeLogRoomPages && written < limits.storeLogLeapPages) makeRoom(ledger)
  } catch (error) {
    // Where it cannot, the next will.
    if (isDiskError(error)) throw error
  }
}

/**
 * A commit that need not lengthen the log's file is synced in half the time. So the file grows by
 * leaps: a transaction that is too large for the cache writes its pages into the log, and is then
 * undone.
 */
function makeRoom({ database, log }: Ledger): void {
  const wanted = log.used + limits.storeLogRoomPages
  if (wanted <= log.room) return
  log.room = Math.floor(statSync(log.file).size / logPageBytes)
  if (wanted <= log.room) return
  try {
    database.exec(`
      PRAGMA cache_size = 10; BEGIN IMMEDIATE;
      INSERT INTO inbox (run, type, box) VALUES ('', '', zeroblob(${leapPages(log.used) * pageBytes}))
    `)
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK')
    setPageCache(database)
  }
  syncFile(log.file)
}

/** Longer and longer, so that there are few of them. */
function leapPages(used: number): number {
  return Math.max(limits.storeLogLeapPages, Math.min(used, limits.storeLogPagesMax - used))
}

/** Here, where no writer waits: else the next commit would sync all of it. */
function syncFile(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fdatasyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
