/**
 * Commits what was asked, together where that is possible, and says of each ask what became of it.
 */

import { isBusy, isDiskError, isFull, storeError } from '#record/disk'
import { apply, type SharedAsk } from './apply.ts'
import { writeCheckpoint } from './checkpoint.ts'
import { purgeRun } from './purge.ts'
import { inTransaction, type Ledger } from './transaction.ts'
import type { Ack, Request } from './write-request.ts'

/** Throws where the disk fails: the ledger must not be used after that. */
export function commit(ledger: Ledger, requests: Request[]): Ack[] {
  const acks = commitTogether(ledger, requests.filter(isShared))
  for (const request of requests) if (!isShared(request)) acks.push(commitAlone(ledger, request))
  return acks
}

/**
 * One commit for all; where one of them is refused, a commit for each, so that it is refused alone.
 */
function commitTogether(ledger: Ledger, requests: (Request & { ask: SharedAsk })[]): Ack[] {
  if (requests.length === 0) return []
  try {
    return inTransaction(ledger, () => requests.map(({ id, ask }) => done(id, apply(ledger, ask))))
  } catch (error) {
    if (isFatal(ledger, error)) throw error
    if (requests.length === 1) return [refusal(requests[0]!.id, error)]
    return requests.flatMap((request) => commitTogether(ledger, [request]))
  }
}

function commitAlone(ledger: Ledger, { id, ask }: Request): Ack {
  try {
    if (ask.kind === 'checkpoint') return done(id, writeCheckpoint(ledger, ask.at))
    if (ask.kind === 'purge') return done(id, purgeRun(ledger, ask.run, ask.at, ask.by))
    throw new Error(`"${ask.kind}" shares its transaction`)
  } catch (error) {
    if (isFatal(ledger, error)) throw error
    return refusal(id, error)
  }
}

/**
 * The kernel reports a failed write once and then forgets it, so no commit may follow. A ledger
 * that does not wait for the lock (`waits`) leaves the error to the thread that does.
 */
function isFatal({ waits }: Ledger, error: unknown): boolean {
  return isDiskError(error) || (!waits && isBusy(error))
}

function isShared(request: Request): request is Request & { ask: SharedAsk } {
  return request.ask.kind !== 'checkpoint' && request.ask.kind !== 'purge'
}

function done(id: number, value: unknown): Ack {
  return value === undefined ? id : { id, value }
}

function refusal(id: number, error: unknown): Ack {
  return { id, error: storeError(error, 'write the record').toJSON() }
}

/**
 * Removes the write-ahead log where no other process has the database open and there is room; else
 * the last one to close does.
 */
export function closeLedger({ database }: Ledger): void {
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
  } catch (error) {
    if (!isBusy(error) && !isFull(error)) throw error
  } finally {
    database.close()
  }
}
