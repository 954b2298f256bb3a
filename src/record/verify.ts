/** Verification: every chain against itself, the home's chain, the signed checkpoints and the index; names the first bad event. */
import { accessSync, constants, existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { AppError, homeChain, type RunStatus } from '#model'
import { isFinished } from './apply.ts'
import { homePaths } from './home.ts'
import { openForReading, refuseNewer } from './schema.ts'
import { storeError } from './store-error.ts'
import { Fault, newChain, newWalk, type VisitHome, type Walk, type Walked, walkOn } from './walk.ts'
import { openWitness, readCheckpoints, type Witness } from './witness.ts'

export type Verdict = { ok: boolean; events: number; firstBad?: { run: string; n: number }; reason?: string }

type IndexRow = { run: string; n: number; hash: string; status: RunStatus; seq: number | null }

export async function verify(home: string, { run }: { run?: string } = {}): Promise<Verdict> {
  refuseUnreadable(home)
  return verifyOn(home, newWalk(), run)
}

/** What may not be read is neither good nor broken. */
function refuseUnreadable(home: string): void {
  const { database } = homePaths(home)
  for (const path of [home, database]) {
    try {
      accessSync(path, path === home ? constants.R_OK | constants.X_OK : constants.R_OK)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EACCES') throw storeError(error, 'read the record')
    }
  }
}

/** Goes on with a walk that found everything good so far; the walk is worth nothing after a bad verdict. */
export async function verifyOn(home: string, walk: Walk, only?: string): Promise<Verdict> {
  const paths = homePaths(home)
  let database: DatabaseSync | undefined
  try {
    // Before the database is opened: a checkpoint reaches the file after its commit, so the file is never ahead.
    const file = readCheckpoints(paths.checkpoints)
    if (!existsSync(paths.database) && file.length === 0) {
      if (only !== undefined) throw unknownRun(only)
      return { ok: true, events: 0 }
    }
    database = openForReading(paths.database)
    refuseNewer((database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version)
    database.exec('BEGIN')
    const witness = openWitness(home, file)
    const scope = { database, blobs: paths.blobs, ...(only === undefined ? {} : { only }) }
    await walkOn(walk, scope, listenToHome(walk, witness, only))
    witness.end(walk.chains.get(homeChain)!.n)
    checkEnd(database, walk, only)
    return { ok: true, events: walk.good }
  } catch (error) {
    if (error instanceof AppError && ['RUN_NOT_FOUND', 'CONFIG_INVALID'].includes(error.code)) throw error
    const { run, n } = error instanceof Fault ? error : walk.due
    return { ok: false, events: walk.good, firstBad: { run, n }, reason: (error as Error).message }
  } finally {
    database?.close()
  }
}

/** What the home says of the runs must be true when it says it: events arrive before the words about them. */
function listenToHome({ chains }: Walk, witness: Witness, only: string | undefined): VisitHome {
  const of = (run: string): Walked => {
    const chain = chains.get(run) ?? newChain()
    if (only === undefined || run === only) chains.set(run, chain)
    return chain
  }
  return (n, type, line, previousHash) => {
    witness.compare(n, type, line)
    if (!/^(run|ledger)\./.test(type)) return
    const { body } = JSON.parse(line.toString())
    if (type === 'run.opened') of(body.run)
    else if (type === 'run.closed') {
      compareHead(body.run, of(body.run), { n: body.count, hash: body.head }, `the home's run.closed`)
      of(body.run).isClosed = true
    } else if (type === 'run.purged') {
      if (of(body.run).n > 0) throw new Fault(body.run, 1, 'the home has purged its run')
      of(body.run).isPurged = true
    } else if (type === 'ledger.checkpointed') {
      for (const [run, head] of Object.entries(witness.heads(n, body, previousHash))) {
        if (run !== homeChain) compareHead(run, of(run), head, `checkpoint ${n}`)
      }
    }
  }
}

/** A run of which there is nothing at all was purged later, or is missed at the end. */
function compareHead(run: string, chain: Walked, head: { n: number; hash: string }, from: string): void {
  if (chain.n === 0) return
  if (chain.n < head.n) throw new Fault(run, chain.n + 1, `it is missing; ${from} knows ${head.n} events`)
  if (chain.n > head.n) throw new Fault(run, head.n + 1, `${from}, which came later, does not know it`)
  if (chain.hash !== head.hash) throw new Fault(run, head.n, `its hash is not the one in ${from}`)
}

function checkEnd(database: DatabaseSync, { chains, stray }: Walk, only: string | undefined): void {
  const rows = database.prepare('SELECT run, n, hash, status, seq FROM run').all() as IndexRow[]
  const index = new Map(rows.map((row) => [row.run, row]))
  const home = chains.get(homeChain)!
  compareWithIndex(homeChain, home, index.get(homeChain))
  for (const [run, chain] of chains) {
    if (run === homeChain || chain.isPurged) continue
    if (chain.n === 0) throw new Fault(run, 1, 'it is missing, as is the whole run; the home opened it')
    if (!chain.isClosed && chain.type === 'run.finished') {
      throw new Fault(homeChain, home.n + 1, `it is missing: run ${run} is finished and was not closed`)
    }
    compareWithIndex(run, chain, index.get(run))
  }
  if (only !== undefined && !chains.has(only)) throw unknownRun(only)
  if (only !== undefined) return
  const isKnown = ({ run }: { run: string }) => chains.get(run)?.isPurged === false
  const unknown = stray ?? rows.map(({ run }) => ({ run, n: 1 })).find((row) => !isKnown(row))
  if (unknown) throw new Fault(unknown.run, unknown.n, 'the home knows no such run, or has purged it')
  const lost = rows.find(({ run, seq }) => chains.get(run)!.seq !== seq)
  if (lost) throw new Fault(lost.run, lost.n, 'the index does not lead to it')
}

/** The home verified without it: nothing is broken, there is nothing to verify. */
function unknownRun(run: string): AppError {
  const message = `Cannot verify the run "${run}": the home has no run of this id; "metier runs" lists them`
  return new AppError('RUN_NOT_FOUND', message, { run })
}

/** The index may lag behind nothing: it is written in the same transaction as the events. */
function compareWithIndex(run: string, chain: Walked, row: IndexRow | undefined): void {
  if (!row) throw new Fault(run, Math.max(chain.n, 1), 'its run has no row in the index')
  if (row.n > chain.n) throw new Fault(run, chain.n + 1, `it is missing; the index knows ${row.n} events`)
  if (row.n < chain.n) throw new Fault(run, row.n + 1, 'the index does not know it')
  if (row.hash !== chain.hash) throw new Fault(run, chain.n, 'its hash is not the one in the index')
  if (run !== homeChain && isFinished(row.status) !== chain.isClosed) {
    throw new Fault(run, chain.n, `its run is "${row.status}" in the index, which is not what the record says`)
  }
}
