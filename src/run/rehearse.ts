/**
 * What a rehearsal compares: the values of arguments and of the result, not their bytes. A program
 * with parameters may write the keys of an object in another order than the one that it was made
 * from.
 */
import { isDeepStrictEqual } from 'node:util'
import { AppError, type RunId } from '#model'
import type { Store } from '#record'
import type { ReplayCheck } from '#run/state'

export function isSameValue(recorded: string, issued: string): boolean {
  return recorded === issued || isDeepStrictEqual(JSON.parse(recorded), JSON.parse(issued))
}

/** A rehearsal that issued the same calls must also end as the run did. */
export function sameResult(check: ReplayCheck, store: Pick<Store, 'events' | 'text'>, run: RunId): ReplayCheck {
  if (!check.ok) return check
  const [finished] = store.events(run, { type: 'run.finished' })
  const result = finished?.type === 'run.finished' ? finished.body.result : undefined
  const recorded = result === undefined ? null : store.text(result)
  const { end } = check
  if (recorded !== null && end?.ok === true && isSameValue(recorded, end.value)) return check
  const message = `Cannot rehearse against run ${run}: it ends with another result`
  return { ...check, ok: false, error: new AppError('REPLAY_MISMATCH', message, { run }) }
}
