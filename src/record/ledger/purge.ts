/** Purging: a finished run leaves whole; its head and count stay in the home's chain. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, type EventBodies, isFinished } from '#model'
import { homePaths, publicKeyOf, signText } from '#record/disk'
import { entriesOf, findRun } from './apply.ts'
import { brokenChain, chainQuery } from './chain-query.ts'
import { appendHome, inTransaction, type Ledger } from './transaction.ts'

export type PurgedBy = { who: string; from: string }

type Purged = EventBodies['run.purged']

/** What the home's key signs of a purge: the run, where it ended, and at whose word it went. */
export function purgeText({ run, head, count, who, from, requestKey }: Omit<Purged, 'signature' | 'key'>): string {
  return `run.purged ${JSON.stringify([run, head, count, who, from, requestKey ?? null])}`
}

export function purgeRun(ledger: Ledger, run: string, at: number, by: PurgedBy): void {
  const digests = inTransaction(ledger, () => removeRows(ledger, run, at, by))
  // Once more alone with the database: a blob that another run has named meanwhile stays.
  inTransaction(ledger, () => {
    for (const digest of digests) {
      if (ledger.sql('SELECT 1 FROM blob WHERE digest = ?').get(digest)) continue
      rmSync(join(homePaths(ledger.home).blobs, digest), { force: true })
    }
  })
}

function removeRows(ledger: Ledger, run: string, at: number, by: PurgedBy): string[] {
  const { id, status, n, hash } = findRun(ledger, run)
  if (!isFinished(status)) {
    const details = 'only a finished run may be purged'
    throw new AppError('INVALID_INPUT_PARAM', `Cannot purge run ${run}: ${details}. Cancel it first`, {
      param: 'run',
      details,
    })
  }
  const blobs = ledger.sql('SELECT digest FROM blob WHERE run = ?').all(run) as { digest: string }[]
  ledger.sql('INSERT INTO purged SELECT run, key FROM run JOIN request USING (id) WHERE run = ?').run(run)
  const { key } = ledger.sql('SELECT key FROM purged WHERE run = ?').get(run) as { key: string | null }
  const said = { run, head: hash, count: n, ...by, ...(key === null ? {} : { requestKey: key }) }
  appendHome(ledger, entriesOf('run.purged', at, signed(ledger, said)))
  const { changes } = ledger.sql(`DELETE FROM event WHERE seq IN (${chainQuery(['seq'])})`).run(run, 0)
  if (changes !== n) throw brokenChain(run, n - Number(changes))
  ledger.sql('DELETE FROM request WHERE id = ?').run(id)
  for (const table of ['run', 'blob', 'inbox', 'sealed', 'approval'])
    ledger.sql(`DELETE FROM ${table} WHERE run = ?`).run(run)
  return blobs.map(({ digest }) => digest)
}

function signed(ledger: Ledger, said: Omit<Purged, 'signature' | 'key'>): Purged {
  const key = ledger.signingKey()
  return { ...said, signature: signText(purgeText(said), key), key: publicKeyOf(key) }
}
