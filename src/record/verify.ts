/** Verification: every chain against itself, the home's chain, the signed checkpoints and the index; names the first bad event. */
import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { homeChain, type RunStatus } from '#model'
import { isFinished } from './apply.ts'
import { homePaths } from './home.ts'
import { openForReading } from './schema.ts'
import { Fault, openWalker, type Pin, type Walked, type Walker } from './walk.ts'
import { openWitness, readCheckpoints } from './witness.ts'

export type Verdict = { ok: boolean; events: number; firstBad?: { run: string; n: number }; reason?: string }

/** What the home's chain says of one run. */
type Known = { pins: Pin[]; closed: { head: string; count: number } | null; isPurged: boolean }

type IndexRow = { run: string; n: number; hash: string; status: RunStatus }

export async function verify(home: string, { run }: { run?: string } = {}): Promise<Verdict> {
  const paths = homePaths(home)
  let database: DatabaseSync | undefined
  let walker: Walker | undefined
  try {
    // Before the database is opened: a checkpoint reaches the file after its commit, so the file is never ahead.
    const file = readCheckpoints(paths.checkpoints)
    if (!existsSync(paths.database) && file.length === 0) return { ok: true, events: 0 }
    database = openForReading(paths.database)
    database.exec('BEGIN')
    walker = openWalker(database, paths.blobs)
    await verifyAll(database, walker, home, file, run)
    return { ok: true, events: walker.good() }
  } catch (error) {
    const { run, n } = error instanceof Fault ? error : (walker?.due() ?? { run: homeChain, n: 1 })
    return { ok: false, events: walker?.good() ?? 0, firstBad: { run, n }, reason: (error as Error).message }
  } finally {
    database?.close()
  }
}

async function verifyAll(database: DatabaseSync, walker: Walker, home: string, file: string[], only?: string) {
  const known = await walkHome(walker, home, file)
  const index = new Map(
    (database.prepare('SELECT run, n, hash, status FROM run').all() as IndexRow[]).map((row) => [row.run, row]),
  )
  compareWithIndex(homeChain, known.home, index.get(homeChain))
  if (only !== undefined && !known.runs.has(only)) throw new Fault(only, 1, 'the home has no run of this id')
  for (const [run, { pins, closed, isPurged }] of known.runs) {
    if (isPurged || (only !== undefined && only !== run)) continue
    const walked = await walker.walk(run, pins)
    if (walked.n === 0) throw new Fault(run, 1, 'it is missing, as is the whole run; the home opened it')
    if (closed && walked.n > closed.count) throw new Fault(run, closed.count + 1, 'it comes after the end of the run')
    if (!closed && walked.type === 'run.finished') {
      throw new Fault(homeChain, known.home.n + 1, `it is missing: run ${run} is finished and was not closed`)
    }
    compareWithIndex(run, walked, index.get(run), closed !== null)
  }
  if (only === undefined) refuseStrays(database, known.runs, index)
}

/** The home's chain, and from it what must be true of every run. */
async function walkHome(walker: Walker, home: string, file: string[]) {
  const runs = new Map<string, Known>()
  const witness = openWitness(home, file)
  const of = (run: string): Known => {
    const known = runs.get(run) ?? { pins: [], closed: null, isPurged: false }
    runs.set(run, known)
    return known
  }
  const walked = await walker.walk(homeChain, [], (n, type, line, previousHash) => {
    witness.compare(n, type, line)
    if (!/^(run|ledger)\./.test(type)) return
    const { body } = JSON.parse(line.toString())
    if (type === 'run.opened') of(body.run)
    else if (type === 'run.closed') {
      of(body.run).closed = body
      of(body.run).pins.push({ n: body.count, hash: body.head, from: `the home's run.closed` })
    } else if (type === 'run.purged') of(body.run).isPurged = true
    else if (type === 'ledger.checkpointed') {
      for (const [run, head] of Object.entries(witness.heads(n, body, previousHash))) {
        if (run !== homeChain) of(run).pins.push({ ...head, from: `checkpoint ${n}` })
      }
    }
  })
  witness.end(walked.n)
  return { home: walked, runs }
}

/** The index may lag behind nothing: it is written in the same transaction as the events. */
function compareWithIndex(run: string, walked: Walked, row: IndexRow | undefined, isClosed?: boolean): void {
  if (!row) throw new Fault(run, Math.max(walked.n, 1), 'its run has no row in the index')
  if (row.n > walked.n) throw new Fault(run, walked.n + 1, `it is missing; the index knows ${row.n} events`)
  if (row.n < walked.n) throw new Fault(run, row.n + 1, 'the index does not know it')
  if (row.hash !== walked.hash) throw new Fault(run, walked.n, 'its hash is not the one in the index')
  if (isClosed !== undefined && isFinished(row.status) !== isClosed) {
    throw new Fault(run, walked.n, `its run is "${row.status}" in the index, which is not what the record says`)
  }
}

/** Events and rows of runs that the home never opened, or has purged. */
function refuseStrays(database: DatabaseSync, runs: Map<string, Known>, index: Map<string, IndexRow>): void {
  const chains = database.prepare('SELECT run, min(n) AS n FROM event GROUP BY run').all() as {
    run: string
    n: number
  }[]
  const rows = [...index.keys()].map((run) => ({ run, n: 1 }))
  for (const { run, n } of [...chains, ...rows]) {
    const isExpected = run === homeChain || runs.get(run)?.isPurged === false
    if (!isExpected) throw new Fault(run, n, 'the home knows no such run, or has purged it')
  }
}
