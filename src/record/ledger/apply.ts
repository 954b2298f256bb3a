/**
 * What each ask does inside the transaction; every write of a run checks that this process still
 * owns it.
 */
import { AppError, type EventType, homeChain, isFinished, type RunId, type RunStatus } from '#model'
import type { Head, OwnedHead } from './chain-head.ts'
import { bodyText, firstHash } from './event-line.ts'
import { appendEvents, appendHome, type Ledger } from './transaction.ts'
import type { ApprovalChange, ChainWrite, Entries, WriteRequest } from './write-request.ts'

type Row = Head & { id: number; owner: string | null; epoch: number; status: RunStatus }

const findRow = 'SELECT id, owner, epoch, status, n, hash, at, seq FROM run WHERE run = ?'

/** Asks that share a transaction with others. */
export type SharedAsk = Exclude<WriteRequest, { kind: 'checkpoint' | 'purge' }>

export function apply(ledger: Ledger, ask: SharedAsk): unknown {
  switch (ask.kind) {
    case 'chain':
      return writeChain(ledger, ask)
    case 'home':
      return void appendHome(ledger, ask.entries)
    case 'send':
      return send(ledger, ask)
    case 'take':
      return take(ledger, ask)
  }
}

/** The run's row, or why there is none. */
export function findRun(ledger: Ledger, run: string): Row {
  const row = ledger.sql(findRow).get(run) as Row | undefined
  if (row && run !== homeChain) return row
  if (ledger.sql('SELECT 1 FROM purged WHERE run = ?').get(run)) {
    throw new AppError('RUN_PURGED', `Cannot use run ${run}: it was purged; only its head and count remain`, { run })
  }
  throw new AppError('RUN_NOT_FOUND', `Cannot find run ${run}: this home has none of that id. See "metier runs"`, {
    run,
  })
}

export function entriesOf(type: EventType, at: number, body: object): Entries {
  const { text, blobs } = bodyText(body)
  return { types: [type], ats: [at], bodies: [text], blobs }
}

function writeChain(ledger: Ledger, ask: ChainWrite): void {
  const { run, entries, release: leaves } = ask
  if (ask.open) openRun(ledger, ask)
  const before = ownedHead(ledger, ask)
  const head = appendEvents(ledger, run, before, entries)
  moveHead(ledger, ask, before, head)
  for (const id of ask.consumed) ledger.sql('DELETE FROM inbox WHERE run = ? AND id = ?').run(run, id)
  for (const { placeholder, server, ciphertext } of ask.sealed) {
    ledger.sql('INSERT OR IGNORE INTO sealed VALUES (?, ?, ?, ?)').run(run, placeholder, server, ciphertext)
  }
  for (const change of ask.approvals) keepApproval(ledger, run, head, change)
  if (leaves !== null && isFinished(leaves.status)) closeRun(ledger, run, head)
}

/**
 * The head as we left it, or as it stands: then the request must come from the owner of the run.
 */
function ownedHead(ledger: Ledger, ask: ChainWrite): OwnedHead {
  const { heads } = ledger.pending
  const known = heads.has(ask.run) ? heads.get(ask.run) : ledger.owned.get(ask.run)
  if (known?.epoch === ask.epoch && known.n === ask.after) return known
  const row = findRun(ledger, ask.run)
  if (row.owner !== ledger.process || row.epoch !== ask.epoch || row.n !== ask.after) throw lost(ask, row)
  return row
}

/**
 * Moves the run's head from where it must stand: in the same breath, owner and epoch are asserted,
 * and given up by who leaves.
 */
function moveHead(ledger: Ledger, ask: ChainWrite, from: OwnedHead, to: Head): void {
  const { id, epoch } = from
  let calls = 0
  for (const type of ask.entries.types) if (type === 'call.issued') calls += 1
  const { status, callCount } = ask.release ?? { status: null, callCount: null }
  const { changes } = ledger
    .sql(
      `UPDATE run SET n = ?, hash = ?, at = ?, seq = ?, call_count = coalesce(?, call_count + ?)
       ${status === null ? '' : ', owner = NULL, status = ?'}
       WHERE id = ? AND owner = ? AND epoch = ? AND n = ? AND hash = ?`,
    )
    .run(
      ...[to.n, to.hash, to.at, to.seq, callCount, calls],
      ...(status === null ? [] : [status]),
      ...[id, ledger.process, epoch, from.n, from.hash],
    )
  if (changes !== 1) throw lost(ask, findRun(ledger, ask.run))
  const head = { n: to.n, hash: to.hash, at: to.at, seq: to.seq, id, epoch }
  ledger.pending.heads.set(ask.run, status === null ? head : null)
}

/** The index of approvals: the state of each, until its run is finished. */
function keepApproval(ledger: Ledger, run: string, head: Head, change: ApprovalChange): void {
  const { approval } = change
  if ('answer' in change) {
    ledger.sql('UPDATE approval SET answer = ? WHERE approval = ? AND run = ?').run(change.answer, approval, run)
    return
  }
  // The events of one write are consecutive: no other write's come between.
  const seq = head.seq! - (head.n - change.n)
  ledger.sql('INSERT OR REPLACE INTO approval VALUES (?, ?, ?, NULL)').run(approval, run, seq)
}

function openRun(ledger: Ledger, { run, epoch, open: opens, entries }: ChainWrite): void {
  const { key, intent } = opens!
  const at = entries.ats[0]!
  if (key !== null) refuseTakenKey(ledger, key)
  const { lastInsertRowid } = ledger
    .sql(
      `INSERT INTO run (run, owner, epoch, status, started_at, call_count, n, hash, at)
       VALUES (?, ?, ?, 'running', ?, 0, 0, ?, 0)`,
    )
    .run(run, ledger.process, epoch, at, firstHash)
  ledger.sql('INSERT INTO request VALUES (?, ?, ?)').run(lastInsertRowid, key, intent)
  ledger.pending.heads.set(run, { id: Number(lastInsertRowid), epoch, n: 0, hash: firstHash, at: 0, seq: null })
  appendHome(ledger, entriesOf('run.opened', at, { run }))
}

function refuseTakenKey(ledger: Ledger, key: string): void {
  const taken = ledger
    .sql('SELECT run FROM request JOIN run USING (id) WHERE key = ? UNION ALL SELECT run FROM purged WHERE key = ?')
    .get(key, key)
  if (taken) throw requestKeyConflict(taken.run as RunId)
}

export function requestKeyConflict(existing: RunId): AppError {
  const details = `run ${existing} has it already`
  return new AppError('INVALID_INPUT_PARAM', `Cannot start a run with this key: ${details}`, {
    param: 'key',
    details,
    existing,
  })
}

const leavings = ['sealed', 'inbox', 'approval']
const hasLeavings = leavings.map((table) => `EXISTS (SELECT 1 FROM ${table} WHERE run = ?1)`).join(' OR ')

function closeRun(ledger: Ledger, run: string, head: Head): void {
  // Most runs leave nothing, and one look costs less than three.
  const { some } = ledger.sql(`SELECT ${hasLeavings} AS some`).get(run) as { some: number }
  if (some) for (const table of leavings) ledger.sql(`DELETE FROM ${table} WHERE run = ?`).run(run)
  appendHome(ledger, entriesOf('run.closed', head.at, { run, head: head.hash, count: head.n }))
}

type Send = Extract<WriteRequest, { kind: 'send' }>

/**
 * Under the write lock, of several who answer at once one is first; the others hear that something
 * changed.
 */
function send(ledger: Ledger, { run, type, ciphertext, expected }: Send): 'changed' | undefined {
  const { status, n } = findRun(ledger, run)
  if (isFinished(status)) throw finished('answer', run)
  if (expected !== undefined && hasChanged(ledger, run, n, expected)) return 'changed'
  ledger.sql('INSERT INTO inbox (run, type, box) VALUES (?, ?, ?)').run(run, type, ciphertext)
  return undefined
}

function hasChanged(ledger: Ledger, run: string, n: number, expected: NonNullable<Send['expected']>): boolean {
  const { last } = ledger.sql('SELECT coalesce(max(id), 0) AS last FROM inbox WHERE run = ?').get(run) as {
    last: number
  }
  if (last > expected.last) return true
  if ('count' in expected) return n !== expected.count
  const row = ledger.sql('SELECT answer FROM approval WHERE approval = ? AND run = ?').get(expected.approval, run)
  return row?.answer !== null
}

export type RunTakeover = { epoch: number; n: number; at: number }

/** Compare and set: of several that found the owner dead, one wins. */
function take(ledger: Ledger, { run, owner, epoch }: Extract<WriteRequest, { kind: 'take' }>): RunTakeover {
  const row = findRun(ledger, run)
  if (isFinished(row.status)) throw finished('take', run)
  if (row.owner !== owner || row.epoch !== epoch) throw ownedByAnother(run, row.owner)
  ledger.pending.heads.set(run, null)
  ledger.sql(`UPDATE run SET owner = ?, epoch = epoch + 1, status = 'running' WHERE run = ?`).run(ledger.process, run)
  return { n: row.n, at: row.at, epoch: epoch + 1 }
}

export function ownedByAnother(run: string, owner: string | null): AppError {
  return new AppError('RUN_OWNED', `Cannot take run ${run}: process ${owner} has it and is alive`, { run, owner })
}

function finished(verb: string, run: string): AppError {
  const details = 'it is finished'
  return new AppError('INVALID_INPUT_PARAM', `Cannot ${verb} run ${run}: ${details}`, {
    param: 'run',
    details,
    value: run,
  })
}

function lost({ run, ...ask }: ChainWrite, row: Row): AppError {
  const state = `this process no longer owns it (epoch ${ask.epoch}, now ${row.epoch}; event ${ask.after}, now ${row.n})`
  return new AppError('RUN_OWNED', `Cannot write to run ${run}: ${state}. Whoever took it over goes on`, {
    run,
    owner: row.owner,
  })
}
