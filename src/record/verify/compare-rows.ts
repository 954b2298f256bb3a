/**
 * Compares the rows beside the record with what its events say: whatever was changed in one of them
 * is a fault of the event it belongs to.
 */
import { homeChain, isFinished, type RunStatus } from '#model'
import { readBlob } from '#record/disk'
import { isBlobReference } from '#record/ledger'
import { compareSealed } from './compare-sealed.ts'
import { BadEvent, type ChainState, type Scope, type StartedBody, type Walk } from './walk-events.ts'

type RunRow = {
  run: string
  owner: string | null
  epoch: number
  status: RunStatus | 'home'
  started_at: number
  call_count: number
  n: number
  hash: string
  at: number
  seq: number | null
}

export type RowChecks = {
  /** The request that a run began with. */
  request(run: string, body: StartedBody): void
  /** A run names the blob: a row keeps it from being removed with another run. */
  blob(run: string, n: number, digest: string): void
  /** A run was purged; undefined where the event is of a kind that does not say the key. */
  purged(run: string, n: number, key: string | null | undefined): void
  /** When every event was read. */
  end(walk: Walk): void
}

export function openRowChecks(scope: Scope): RowChecks {
  const { database, folders } = scope
  const request = database.prepare(
    'SELECT request.id AS id, key, intent FROM run LEFT JOIN request ON request.id = run.id WHERE run = ?',
  )
  const blob = database.prepare('SELECT 1 FROM blob WHERE run = ? AND digest = ?')
  const purged = database.prepare('SELECT key FROM purged WHERE run = ?')

  function textOf(value: unknown): unknown {
    return isBlobReference(value) ? JSON.parse(readBlob(folders.blobs, value)) : (value ?? null)
  }

  return {
    request(run, { key, intent }) {
      const row = request.get(run)
      // A run without any row is named at the end.
      if (row === undefined) return
      if (row.id === null) throw new BadEvent(run, 1, 'its request is not in the index')
      if (row.key !== textOf(key)) throw new BadEvent(run, 1, 'its key is not the one in the index')
      if (row.intent !== textOf(intent)) throw new BadEvent(run, 1, 'its intent is not the one in the index')
    },
    blob(run, n, digest) {
      if (!blob.get(run, digest))
        throw new BadEvent(run, n, `the index does not know that its run needs blob ${digest}`)
    },
    purged(run, n, key) {
      const row = purged.get(run)
      if (!row) throw new BadEvent(homeChain, n, `the index does not know that run ${run} was purged`)
      if (key !== undefined && row.key !== key) {
        throw new BadEvent(homeChain, n, `the key of the purged run ${run} is not the one in the index`)
      }
    },
    end(walk) {
      compareRuns(scope, walk)
      compareApprovals(scope, walk)
      compareSealed(scope, walk)
      compareCounts(scope, walk)
    },
  }
}

const runColumns = 'run, owner, epoch, status, started_at, call_count, n, hash, at, seq'

/**
 * The home's first, then the runs' in the order in which they were opened; one row in memory at a
 * time.
 */
function compareRuns({ database, only }: Scope, { chains }: Walk): void {
  const some = only === undefined ? '' : 'WHERE run IN (?, ?)'
  const rows = database.prepare(`SELECT ${runColumns} FROM run ${some} ORDER BY run <> '${homeChain}', id`)
  let indexed = 0
  for (const row of rows.iterate(...(only === undefined ? [] : [homeChain, only])) as Iterable<RunRow>) {
    const chain = chains.get(row.run)
    if (chain === undefined || chain.isPurged) {
      throw new BadEvent(row.run, 1, 'the home knows no such run, or has purged it')
    }
    compareHead(row, chain)
    if (row.run === homeChain) compareHome(row, chain)
    else compareRun(row, chain)
    indexed += 1
  }
  let expected = 0
  for (const { isPurged } of chains.values()) if (!isPurged) expected += 1
  if (indexed === expected) return
  const known = database.prepare('SELECT 1 FROM run WHERE run = ?')
  for (const [run, { n, isPurged }] of chains) {
    if (!isPurged && !known.get(run)) throw new BadEvent(run, Math.max(n, 1), 'its run has no row in the index')
  }
}

/** The index may lag behind nothing: it is written in the same transaction as the events. */
function compareHead({ run, n, hash, seq, at }: RunRow, chain: ChainState): void {
  if (n > chain.n) throw new BadEvent(run, chain.n + 1, `it is missing; the index knows ${n} events`)
  if (n < chain.n) throw new BadEvent(run, n + 1, 'the index does not know it')
  if (hash !== chain.hash) throw new BadEvent(run, chain.n, 'its hash is not the one in the index')
  if (seq !== chain.seq) throw new BadEvent(run, chain.n, 'the index does not lead to it')
  if (chain.n > 0 && at !== Date.parse(chain.at))
    throw new BadEvent(run, chain.n, 'its time is not the one in the index')
}

function compareHome({ owner, status, epoch, started_at, call_count }: RunRow, { n }: ChainState): void {
  const isPlain = owner === null && status === 'home' && epoch === 0 && started_at === 0 && call_count === 0
  if (!isPlain) throw new BadEvent(homeChain, Math.max(n, 1), 'its row in the index was changed')
}

/**
 * A run is taken over in two steps, first the row (running, the next epoch), then `run.resumed`:
 * between them, and for good where the process dies there, the row of an open run is ahead of its
 * events.
 */
function compareRun(row: RunRow, { n, type, derived }: ChainState): void {
  const { run, owner, status } = row
  const fail = (at: number, what: string, says: unknown, should: unknown): never => {
    throw new BadEvent(
      run,
      at,
      `${what} ${JSON.stringify(says)} in the index, where the record says ${JSON.stringify(should)}`,
    )
  }
  const isTaken = status === 'running' && owner !== null && !isFinished(derived.status)
  if (status !== derived.status && !isTaken) fail(n, 'its run is', status, derived.status)
  if (isFinished(derived.status) !== (type === 'run.finished')) fail(n, 'its run is', status, 'running')
  if ((status === 'running') !== (owner !== null)) fail(n, 'the owner of its run is', owner, status)
  if (row.started_at !== derived.startedAt) fail(1, 'its time is', row.started_at, derived.startedAt)
  if (row.call_count !== derived.callCount) fail(n, 'the number of calls is', row.call_count, derived.callCount)
  const isEpoch = isTaken ? row.epoch >= derived.epoch : row.epoch === derived.epoch
  if (!isEpoch) fail(derived.epochN, 'the epoch of its run is', row.epoch, derived.epoch)
}

type ApprovalRow = { approval: string; run: string; seq: number; answer: string | null }

function compareApprovals({ database, only }: Scope, { chains }: Walk): void {
  const some = only === undefined ? '' : 'WHERE run = ?'
  const rows = database.prepare(`SELECT approval, run, seq, answer FROM approval ${some}`)
  const counts = new Map<string, number>()
  for (const row of rows.iterate(...(only === undefined ? [] : [only])) as Iterable<ApprovalRow>) {
    const { approval, run, seq, answer } = row
    const chain = chains.get(run)
    const known = chain?.derived.open?.approvals.get(approval)
    if (known === undefined)
      throw new BadEvent(
        run,
        Math.max(chain?.n ?? 1, 1),
        `it never asked for the approval ${approval} that is in the index`,
      )
    if (seq !== known.seq || answer !== known.answer) {
      throw new BadEvent(run, known.n, `its approval ${approval} is not the one in the index`)
    }
    counts.set(run, (counts.get(run) ?? 0) + 1)
  }
  for (const [run, { derived }] of chains) {
    const approvals = derived.open?.approvals
    if (approvals === undefined || approvals.size === (counts.get(run) ?? 0)) continue
    const known = database.prepare('SELECT 1 FROM approval WHERE approval = ?')
    for (const [approval, { n }] of approvals) {
      if (!known.get(approval)) throw new BadEvent(run, n, `its approval ${approval} is not in the index`)
    }
  }
}

/** Rows that belong to nothing: each that belongs to something was found on the way. */
function compareCounts({ database, only }: Scope, { chains }: Walk): void {
  const count = (table: string, where = '') => {
    const query = database.prepare(`SELECT count(*) AS rows FROM ${table} ${where}`)
    return (only === undefined ? query.get() : query.get(only)) as { rows: number }
  }
  const some = only === undefined ? '' : 'WHERE run = ?'
  let [runs, blobs, purged] = [0, 0, 0]
  for (const [run, chain] of chains) {
    if (only !== undefined && run !== only) continue
    blobs += chain.blobs?.size ?? chain.blobCount
    if (chain.isPurged) purged += 1
    else if (run !== homeChain) runs += 1
  }
  const fault = (what: string) => new BadEvent(only ?? homeChain, Math.max(chains.get(only ?? homeChain)!.n, 1), what)
  if (count('blob', some).rows !== blobs) throw fault('the index knows blobs that no event names')
  if (count('purged', some).rows !== purged) throw fault('the index knows purged runs that the home does not')
  const requests =
    only === undefined ? count('request').rows : count('request', 'JOIN run USING (id) WHERE run = ?').rows
  if (requests !== runs) throw fault('the index has not one request for each run')
}
