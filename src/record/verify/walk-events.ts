/**
 * Walks the record once, in the order of arrival, and stops at the first event that is not what it
 * should be.
 */
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { type EventType, homeChain, sha256 } from '#model'
import { artifactFault } from '#record/artifacts'
import type { HomePaths } from '#record/disk'
import { openBlob } from '#record/disk'
import { firstHash, isBlobReference, lineHead } from '#record/ledger'
import { type Derived, fold, newDerived, notePlaceholders } from './derive.ts'

/** How far a chain was found good. */
export type ChainState = {
  n: number
  hash: string
  type: string
  at: string
  seq: number | null
  /** Where the home says that it ended. */
  closed: { n: number; hash: string } | null
  isPurged: boolean
  /** What its events say of its rows; of a purged run, and of the home, nothing. */
  derived: Derived
  /** Digests of the blobs that its events name, while it is open; then only how many they are. */
  blobs: Set<string> | null
  blobCount: number
}

/** What else is compared while the walk goes on; each throws a Fault. */
export type Visits = {
  /** An event of the home that is good in itself. */
  home(n: number, type: string, line: Buffer, previousHash: string): void
  /** The first event of a run. */
  started(run: string, body: StartedBody): void
  /** An event names this blob. */
  blob(run: string, n: number, digest: string): void
}

export type StartedBody = Exclude<ReturnType<typeof fold>, string | null>

type Row = [seq: number, run: string, n: number, type: string, line: Uint8Array, hash: string, previous: number | null]

/** The first bad event; `reason` completes "event n of the run: …". */
export class BadEvent extends Error {
  readonly run: string
  readonly n: number
  constructor(run: string, n: number, reason: string) {
    super(reason)
    this.run = run
    this.n = n
  }
}

/** What is verified: all chains, or one beside the home's. */
export type Scope = {
  database: DatabaseSync
  folders: Pick<HomePaths, 'blobs' | 'artifacts' | 'keys'>
  only?: string
}

/** What a walk knows, from its start to its end. */
export type Walk = {
  /** The home's chain, and those that it opened. */
  chains: Map<string, ChainState>
  /**
   * The first event of a chain that the home has not opened: it belongs nowhere, or where one will
   * be missed.
   */
  stray: { run: string; n: number } | null
  good: number
  /** Artifacts in a bucket, which are not looked for. */
  elsewhere: number
  /** A checkpoint has said so. */
  purgesAreSigned: boolean
  lastSeq: number
  /** What could not even be read is blamed on the event that was due. */
  due: { run: string; n: number }
}

/** Events between two breaths of the event loop. */
const stride = 2000
const atLength = 24
const columns = 'seq, run, n, type, CAST(line AS BLOB), hash, previous'

export function newChain(): ChainState {
  const ends = { closed: null, isPurged: false }
  const rows = { derived: newDerived(), blobs: new Set<string>(), blobCount: 0 }
  return { n: 0, hash: firstHash, type: '', at: '', seq: null, ...ends, ...rows }
}

export function newWalk(): Walk {
  const chains = new Map([[homeChain as string, newChain()]])
  const counts = { good: 0, elsewhere: 0, lastSeq: 0 }
  return { chains, stray: null, ...counts, purgesAreSigned: false, due: { run: homeChain, n: 1 } }
}

/** Goes on with a walk from its last event, over all chains or over one beside the home's. */
export async function walkOn(walk: Walk, { database, folders, only }: Scope, visits: Visits): Promise<void> {
  const some = only === undefined ? '' : 'AND run IN (?, ?)'
  const rows = database.prepare(`SELECT ${columns} FROM event WHERE seq > ? ${some} ORDER BY seq`)
  rows.setReturnArrays(true)
  const found = only === undefined ? rows.iterate(walk.lastSeq) : rows.iterate(walk.lastSeq, homeChain, only)
  for (const row of found as Iterable<Row>) {
    const [seq, run, n, type] = row
    const chain = walk.chains.get(run)
    walk.lastSeq = seq
    if (chain === undefined) {
      walk.stray ??= { run, n }
      continue
    }
    walk.due = { run, n: chain.n + 1 }
    const { line, at, isElsewhere } = check(row, chain, walk.due.n, { folders, visits })
    if (isElsewhere) walk.elsewhere += 1
    if (run === homeChain) visits.home(n, type, line, chain.hash)
    else {
      const said = fold(chain.derived, type as EventType, n, seq, line)
      if (typeof said === 'string') throw new BadEvent(run, n, said)
      if (said !== null) visits.started(run, said)
    }
    Object.assign(chain, { n, hash: row[5], type, at, seq })
    walk.due = { run, n: n + 1 }
    walk.good += 1
    if (walk.good % stride === 0) await yieldToEventLoop()
  }
}

type Checked = { line: Buffer; at: string; isElsewhere: boolean }
type Beside = { folders: Scope['folders']; visits: Visits }

/** Refuses an event that is not what it should be after those before it. */
function check(row: Row, last: ChainState, due: number, beside: Beside): Checked {
  const [, run, n, type, bytes, recorded, previous] = row
  const fail = (reason: string): never => {
    throw new BadEvent(run, due, reason)
  }
  if (n < due) fail(`event ${n} stands in its place`)
  if (n > due) fail(`it is missing; event ${n} comes after ${last.n}`)
  if (last.closed !== null) fail('it comes after the end of the run')
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const at = timeIn(line, run, n)
  const head = lineHead(run, n, at, type)
  if (line.toString('utf8', 0, Buffer.byteLength(head)) !== head) fail('its line does not say its run, number and type')
  if (at < last.at) fail('its time is before that of the event before')
  if (previous !== last.seq) fail(`it names ${previous} as the event before it, which is ${last.seq}`)
  if (hashOf(last.hash, line) !== recorded) fail('its bytes and the hash before it do not give its hash')
  if (line.includes('{"$blob":"')) checkBlobs(line, row, last, beside)
  const stored = type === 'artifact.stored' ? JSON.parse(line.toString()).body : null
  const isElsewhere = stored?.store !== undefined
  const fault = stored === null || isElsewhere ? null : artifactFault(beside.folders.artifacts, stored)
  if (fault !== null) fail(fault)
  return { line, at, isElsewhere }
}

const charactersBeforeTime = lineHead('', 0, '', '').indexOf('"at":"') + '"at":"'.length - '0'.length

function timeIn(line: Buffer, run: string, n: number): string {
  const start = charactersBeforeTime + Buffer.byteLength(run) + String(n).length
  return line.toString('latin1', start, start + atLength)
}

let scratch = Buffer.alloc(64 * 1024)

/**
 * SHA-256 of the previous hash, a newline and the bytes as they are: no decoding stands between.
 */
function hashOf(previous: string, line: Uint8Array): string {
  if (scratch.length < line.length + 65) scratch = Buffer.alloc((line.length + 65) * 2)
  scratch.write(`${previous}\n`, 'latin1')
  scratch.set(line, 65)
  return sha256(scratch.subarray(0, line.length + 65))
}

/**
 * Hashes every blob that the event names; the placeholders of secrets in it count as if they stood
 * in the line.
 */
function checkBlobs(line: Buffer, [, run, n]: Row, chain: ChainState, { folders, visits }: Beside): void {
  for (const member of Object.values(JSON.parse(line.toString()).body)) {
    if (!isBlobReference(member)) continue
    const blob = openBlob(folders.blobs, member)
    if (typeof blob === 'string') throw new BadEvent(run, n, blob)
    if (run !== homeChain && chain.derived.open !== null) notePlaceholders(chain.derived.open, n, blob)
    if (chain.blobs?.has(member.$blob)) continue
    chain.blobs?.add(member.$blob)
    visits.blob(run, n, member.$blob)
  }
}
