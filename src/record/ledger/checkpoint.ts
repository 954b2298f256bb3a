/**
 * Checkpoints: the heads that moved, signed, in the home's chain and once more in a file outside
 * the database.
 */
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { homeChain, limits } from '#model'
import { homePaths, publicKeyOf, signText, syncFolder } from '#record/disk'
import { entriesOf } from './apply.ts'
import { indexedHomeEvents } from './tables.ts'
import { appendHome, inTransaction, type Ledger, lastSeq } from './transaction.ts'

const newestCheckpoint = `SELECT seq FROM event WHERE ${indexedHomeEvents} AND type = 'ledger.checkpointed' ORDER BY n DESC LIMIT 1`

export type Heads = Record<string, { n: number; hash: string }>

/**
 * What the home's key signs of a checkpoint. Who takes the word about purges out of it has no
 * signature that fits.
 */
export function checkpointText(heads: string, purges: 'signed' | undefined): string {
  return purges === undefined ? heads : `${heads} purges ${purges}`
}

export function checkpointIsDue(ledger: Ledger): boolean {
  return ledger.pending.lastSeq - checkpointSeq(ledger) >= limits.checkpointEventsMax
}

/**
 * Writes a checkpoint if anything moved since the last. First the database, then the file: the file
 * is never ahead.
 */
export function writeCheckpoint(ledger: Ledger, at: number): { n: number; heads: number } {
  const mend = () => mendCheckpoints(homePaths(ledger.home).checkpoints, ledger.database)
  const written = inTransaction(ledger, () => {
    mend()
    return appendCheckpoint(ledger, at)
  })
  inTransaction(ledger, mend)
  return written
}

function appendCheckpoint(ledger: Ledger, at: number): { n: number; heads: number } {
  const home = ledger.sql('SELECT n, hash FROM run WHERE run = ?').get(homeChain) as { n: number; hash: string }
  const since = checkpointSeq(ledger)
  if (lastSeq(ledger) === since) return { n: home.n, heads: 0 }
  const moved = ledger
    .sql('SELECT run, n, hash FROM run WHERE run IN (SELECT run FROM event WHERE seq > ?) AND run <> ? ORDER BY run')
    .all(since, homeChain) as { run: string; n: number; hash: string }[]
  const heads: Heads = { [homeChain]: { n: home.n, hash: home.hash } }
  for (const { run, n, hash } of moved) heads[run] = { n, hash }
  const key = ledger.signingKey()
  const signature = signText(checkpointText(JSON.stringify(heads), 'signed'), key)
  const body = { heads, purges: 'signed', signature, key: publicKeyOf(key) }
  const { n } = appendHome(ledger, entriesOf('ledger.checkpointed', at, body))
  return { n, heads: moved.length + 1 }
}

/**
 * Appends to the file what the chain has and the file has not: a crash may have come between the
 * two.
 */
export function mendCheckpoints(file: string, database: DatabaseSync): void {
  const descriptor = openSync(file, 'a+', 0o600)
  try {
    const { end, n } = lastWhole(descriptor)
    if (end === 0) syncFolder(dirname(file))
    const missing = database
      .prepare(
        `SELECT line FROM event WHERE ${indexedHomeEvents} AND type = 'ledger.checkpointed' AND n > ? ORDER BY n`,
      )
      .all(n) as { line: string }[]
    if (missing.length === 0) return
    ftruncateSync(descriptor, end)
    const bytes = Buffer.from(missing.map(({ line }) => `${line}\n`).join(''))
    for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done)
    fdatasyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Where the last whole line ends, and its number in the home's chain. Most lines are short, so a
 * short look comes first.
 */
function lastWhole(descriptor: number): { end: number; n: number } {
  const size = fstatSync(descriptor).size
  for (const bytesMax of [limits.eventValueBytesMax, 2 * limits.eventLineBytesMax]) {
    const tail = Buffer.alloc(Math.min(size, bytesMax))
    readSync(descriptor, tail, 0, tail.length, size - tail.length)
    const end = tail.lastIndexOf('\n') + 1
    const start = end > 1 ? tail.lastIndexOf('\n', end - 2) + 1 : 0
    if (start === 0 && tail.length < size) continue
    const n = /^\{"run":"home","n":(\d+),/.exec(tail.toString('latin1', start, end))?.[1]
    return { end: size - tail.length + end, n: Number(n ?? 0) }
  }
  return { end: size, n: 0 }
}

function checkpointSeq({ sql }: Ledger): number {
  const row = sql(newestCheckpoint).get()
  return (row?.seq as number | undefined) ?? 0
}
