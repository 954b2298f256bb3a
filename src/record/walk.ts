/** Walks one chain from its first event to its last and stops at the first that is not what it should be. */
import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openBlob } from './blobs.ts'
import { firstHash, isBlobReference, lineHead } from './line.ts'

/** An event that must stand at this place with this hash: somebody wrote so at the time. */
export type Pin = { n: number; hash: string; from: string }

export type Walked = { n: number; hash: string; type: string }
export type Visit = (n: number, type: string, line: Buffer, previousHash: string) => void

type Row = [seq: number, n: number, type: string, line: Uint8Array, hash: string]

/** The first bad event; `reason` completes "event n of the run: …". */
export class Fault extends Error {
  readonly run: string
  readonly n: number
  constructor(run: string, n: number, reason: string) {
    super(reason)
    this.run = run
    this.n = n
  }
}

export type Walker = {
  /** How many events were found good, over all chains. */
  good(): number
  /** Where a walk stands: what could not even be read is blamed on the event that was due. */
  due(): { run: string; n: number }
  walk(run: string, pins: Pin[], visit?: Visit): Promise<Walked>
}

/** Events between two breaths of the event loop. */
const stride = 2000
const atLength = 24

export function openWalker(database: DatabaseSync, blobs: string): Walker {
  const rows = database.prepare('SELECT seq, n, type, CAST(line AS BLOB), hash FROM event WHERE run = ? ORDER BY n')
  rows.setReturnArrays(true)
  let scratch = Buffer.alloc(64 * 1024)
  let good = 0
  let due = { run: 'home', n: 1 }

  /** SHA-256 of the previous hash, a newline and the bytes as they are: no decoding stands between. */
  function hashOf(previous: string, line: Uint8Array): string {
    if (scratch.length < line.length + 65) scratch = Buffer.alloc((line.length + 65) * 2)
    scratch.write(`${previous}\n`, 'latin1')
    scratch.set(line, 65)
    return hash('sha256', scratch.subarray(0, line.length + 65))
  }

  async function walk(run: string, pins: Pin[], visit?: Visit): Promise<Walked> {
    const last = { n: 0, hash: firstHash, type: '', at: '', seq: 0 }
    const open = pins.toSorted((a, b) => a.n - b.n)
    const atStart = lineHead(run, 0, '', '').indexOf('"at":"') + '"at":"'.length - 1
    for (const row of rows.iterate(run) as unknown as Iterable<Row>) {
      const [seq, n, type, bytes, recorded] = row
      due = { run, n: last.n + 1 }
      const fail = (reason: string): never => {
        throw new Fault(run, due.n, reason)
      }
      if (n !== due.n) fail(`it is missing; event ${n} comes after ${last.n}`)
      const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
      const at = line.toString('latin1', atStart + String(n).length, atStart + String(n).length + atLength)
      const head = Buffer.from(lineHead(run, n, at, type))
      if (!line.subarray(0, head.length).equals(head)) fail('its line does not say its run, number and type')
      if (at < last.at) fail('its time is before that of the event before')
      if (seq <= last.seq) fail('it stands before the event before in the order of arrival')
      if (hashOf(last.hash, line) !== recorded) fail('its bytes and the hash before it do not give its hash')
      while (open[0]?.n === n) {
        const pin = open.shift()!
        if (pin.hash !== recorded) fail(`its hash is not the one in ${pin.from}`)
      }
      if (line.includes('{"$blob":"')) checkBlobs(line, fail)
      visit?.(n, type, line, last.hash)
      Object.assign(last, { n, hash: recorded, type, at, seq })
      good += 1
      if (good % stride === 0) await nextTurn()
    }
    const pin = open[0]
    if (pin) throw new Fault(run, last.n + 1, `it is missing; ${pin.from} knows ${pin.n} events`)
    return last
  }

  function checkBlobs(line: Buffer, fail: (reason: string) => never): void {
    for (const member of Object.values(JSON.parse(line.toString()).body)) {
      const blob = isBlobReference(member) ? openBlob(blobs, member) : null
      if (typeof blob === 'string') fail(blob)
    }
  }

  return { good: () => good, due: () => due, walk }
}
