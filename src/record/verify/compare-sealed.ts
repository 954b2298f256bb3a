/**
 * Compares what is sealed, the secrets of open runs and what was sent to them, with the runs: rows
 * are there, belong, and open.
 */

import { isFinished } from '#model'
import { knownSealingKey, openSealed, sealContext } from '#record/disk'
import { drawnPlaceholders, placeholderSeed } from '#record/secrets'
import { BadEvent, type ChainState, type Scope, type Walk } from './walk-events.ts'

type SealedRow = { run: string; placeholder: string; server: string; ciphertext: Uint8Array }
type InboxRow = { run: string; type: string; ciphertext: Uint8Array }

/**
 * Without the home's key it is unknown whether a sealed value opens; that its row is there can be
 * checked.
 */
export function compareSealed({ database, folders, only }: Scope, { chains }: Walk): void {
  const key = knownSealingKey(folders.keys)
  const some = only === undefined ? '' : 'WHERE run = ?'
  const of = only === undefined ? [] : [only]
  const opened = (run: string, ciphertext: Uint8Array, place: string, what: string): string | null => {
    try {
      return key && openSealed(ciphertext, place, key)
    } catch {
      throw new BadEvent(run, chains.get(run)!.n, `${what} does not open with this home's key`)
    }
  }
  const sealed = database.prepare(`SELECT run, placeholder, server, box AS ciphertext FROM sealed ${some} ORDER BY run`)
  for (const { run, placeholder, server, ciphertext } of sealed.iterate(...of) as Iterable<SealedRow>) {
    refuseUnlessOpen(run, chains.get(run), 'a sealed secret')
    opened(run, ciphertext, sealContext(run, placeholder, server), `its sealed secret ${placeholder}`)
  }
  const inbox = database.prepare(`SELECT run, type, box AS ciphertext FROM inbox ${some}`)
  for (const { run, type, ciphertext } of inbox.iterate(...of) as Iterable<InboxRow>) {
    refuseUnlessOpen(run, chains.get(run), 'an entry of the inbox')
    const text = opened(run, ciphertext, run, 'an entry of its inbox')
    if (text !== null && inboxTypeOf(JSON.parse(text)) !== type) {
      throw new BadEvent(run, chains.get(run)!.n, `an entry of its inbox says that it is a ${type}, and is not`)
    }
  }
  const placeholders = database.prepare('SELECT DISTINCT placeholder FROM sealed WHERE run = ?')
  for (const [run, { derived }] of chains) {
    if (derived.open === null || derived.open.placeholders.size === 0) continue
    const kept = new Set(placeholders.all(run).map(({ placeholder }) => placeholder as string))
    comparePlaceholders(run, derived.open, kept)
  }
}

function refuseUnlessOpen(run: string, chain: ChainState | undefined, what: string): void {
  const isOpen = chain !== undefined && chain.n > 0 && !isFinished(chain.derived.status)
  if (!isOpen) throw new BadEvent(run, Math.max(chain?.n ?? 1, 1), `the index keeps ${what} for it, and it is not open`)
}

/**
 * A fork may hold placeholders of the run that it left, whose secrets are gone: only its own are
 * drawn from its seed.
 */
function comparePlaceholders(
  run: string,
  { started, placeholders }: NonNullable<ChainState['derived']['open']>,
  kept: Set<string>,
): void {
  const missing = [...placeholders].filter(([placeholder]) => !kept.has(placeholder))
  if (missing.length === 0) return
  const own = drawnPlaceholders(placeholderSeed(started, run))
  for (const [placeholder, n] of missing) {
    if (own.has(placeholder)) throw new BadEvent(run, n, `the sealed value of its secret ${placeholder} is missing`)
  }
}

/** Each kind of answer has a member of its own. */
function inboxTypeOf(body: object): string {
  if ('approval' in body) return 'approval.answered'
  return 'how' in body ? 'call.settled' : 'cancel.asked'
}
