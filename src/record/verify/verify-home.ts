/**
 * Verification: every chain against itself, the home's chain, the signed checkpoints and the index;
 * names the first bad event.
 */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { AppError, homeChain } from '#model'
import { type HomePaths, homePaths, storeError } from '#record/disk'
import { openForReading, refuseNewer, schemaFault } from '#record/ledger'
import { openRowChecks, type RowChecks } from './compare-rows.ts'
import { openWitness, readCheckpoints, type Witness } from './verify-checkpoints.ts'
import { BadEvent, type ChainState, newChain, newWalk, type Visits, type Walk, walkOn } from './walk-events.ts'

export type Verdict = {
  ok: boolean
  events: number
  firstBad?: { run: string; n: number }
  reason?: string
  /** How many artifacts are in a bucket, of which nothing was looked at. */
  artifactsNotChecked?: number
}

export async function verify(home: string, { run }: { run?: string } = {}): Promise<Verdict> {
  return verifyAt(homePaths(home), run)
}

/**
 * The same of a record whose parts lie in other places than a home has them, such as those of a
 * backup.
 */
export async function verifyAt(paths: HomePaths, run?: string): Promise<Verdict> {
  refuseUnreadable(paths)
  return verifyOn(paths, newWalk(), run)
}

/** What may not be read is neither good nor broken. */
function refuseUnreadable({ database }: HomePaths): void {
  for (const path of [dirname(database), database]) {
    try {
      accessSync(path, path === database ? constants.R_OK : constants.R_OK | constants.X_OK)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EACCES') throw storeError(error, 'read the record')
    }
  }
}

/**
 * Goes on with a walk that found everything good so far; the walk is worth nothing after a bad
 * verdict.
 */
export async function verifyOn(paths: HomePaths, walk: Walk, only?: string): Promise<Verdict> {
  let database: DatabaseSync | undefined
  try {
    // Before the database is opened: a checkpoint reaches the file after its commit, so the file is
    // never ahead.
    const file = readCheckpoints(paths.checkpoints)
    if (!existsSync(paths.database) && file.length === 0) {
      if (only !== undefined) throw unknownRun(only)
      return { ok: true, events: 0 }
    }
    database = openForReading(paths.database)
    refuseNewer((database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version)
    database.exec('BEGIN')
    const witness = openWitness(paths, file, walk)
    const scope = { database, folders: paths, ...(only === undefined ? {} : { only }) }
    const rows = openRowChecks(scope)
    const visits = { home: listenToHome(walk, witness, rows, only), started: rows.request, blob: rows.blob }
    await walkOn(walk, scope, visits)
    witness.end(walk.chains.get(homeChain)!.n)
    checkEnd(walk, rows, only)
    const changed = schemaFault(database)
    if (changed !== null) return { ok: false, events: walk.good, reason: changed }
    const { good: events, elsewhere } = walk
    return { ok: true, events, ...(elsewhere > 0 && { artifactsNotChecked: elsewhere }) }
  } catch (error) {
    if (error instanceof AppError && ['RUN_NOT_FOUND', 'CONFIG_INVALID'].includes(error.code)) throw error
    const { run, n } = error instanceof BadEvent ? error : walk.due
    return { ok: false, events: walk.good, firstBad: { run, n }, reason: (error as Error).message }
  } finally {
    database?.close()
  }
}

/**
 * What the home says of the runs must be true when it says it: events arrive before the words about
 * them.
 */
function listenToHome({ chains }: Walk, witness: Witness, rows: RowChecks, only: string | undefined): Visits['home'] {
  const of = (run: string): ChainState => {
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
      close(body.run, of(body.run), { n: body.count, hash: body.head })
    } else if (type === 'run.purged') {
      witness.purged(n, body)
      if (only !== undefined && body.run !== only) return
      refusePurge(n, body, of(body.run))
      rows.purged(body.run, n, body.signature === undefined ? undefined : (body.requestKey ?? null))
      of(body.run).isPurged = true
    } else if (type === 'ledger.checkpointed') {
      for (const [run, head] of Object.entries(witness.heads(n, body, previousHash))) {
        if (run !== homeChain) compareHead(run, of(run), head, `checkpoint ${n}`)
      }
    }
  }
}

/**
 * A finished run keeps no rows but its own and those of its blobs, so what else its events said is
 * forgotten here.
 */
function close(run: string, chain: ChainState, head: { n: number; hash: string }): void {
  compareHead(run, chain, head, `the home's run.closed`)
  if (chain.n > 0 && chain.type !== 'run.finished')
    throw new BadEvent(run, chain.n, 'the home has closed its run, which is not finished')
  chain.closed = chain.n > 0 ? { n: chain.n, hash: chain.hash } : head
  chain.derived.open = null
  chain.blobCount = chain.blobs?.size ?? 0
  chain.blobs = null
}

type Purged = { run: string; head: string; count: number }

/** Only what was closed may go, and the purge must say where it ended. */
function refusePurge(n: number, { run, head, count }: Purged, { n: events, closed }: ChainState): void {
  if (events > 0) throw new BadEvent(run, 1, 'the home has purged its run')
  if (closed === null) throw new BadEvent(homeChain, n, `it purges run ${run}, which was not finished`)
  if (closed.n !== count || closed.hash !== head)
    throw new BadEvent(homeChain, n, `it purges run ${run} at another head than it was closed with`)
}

/** A run of which there is nothing at all was purged later, or is missed at the end. */
function compareHead(run: string, chain: ChainState, head: { n: number; hash: string }, from: string): void {
  if (chain.n === 0) return
  if (chain.n < head.n) throw new BadEvent(run, chain.n + 1, `it is missing; ${from} knows ${head.n} events`)
  if (chain.n > head.n) throw new BadEvent(run, head.n + 1, `${from}, which came later, does not know it`)
  if (chain.hash !== head.hash) throw new BadEvent(run, head.n, `its hash is not the one in ${from}`)
}

function checkEnd(walk: Walk, rows: RowChecks, only: string | undefined): void {
  const { chains, stray } = walk
  const home = chains.get(homeChain)!
  for (const [run, chain] of chains) {
    if (run === homeChain || chain.isPurged) continue
    if (chain.n === 0) throw new BadEvent(run, 1, 'it is missing, as is the whole run; the home opened it')
    if (chain.closed === null && chain.type === 'run.finished') {
      throw new BadEvent(homeChain, home.n + 1, `it is missing: run ${run} is finished and was not closed`)
    }
  }
  if (only !== undefined && !chains.has(only)) throw unknownRun(only)
  if (only === undefined && stray)
    throw new BadEvent(stray.run, stray.n, 'the home knows no such run, or has purged it')
  rows.end(walk)
}

/** The home verified without it: nothing is broken, there is nothing to verify. */
function unknownRun(run: string): AppError {
  const message = `Cannot verify the run "${run}": the home has no run of this id; "metier runs" lists them`
  return new AppError('RUN_NOT_FOUND', message, { run })
}
