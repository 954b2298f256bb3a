/** What a server answered to the first call of a run, as it came. */
import type { Answer, RunId, RunStatus, Stored } from '#model'
import { blobOf, type Store } from '#record'
import type { ActiveRun } from '#run'
import type { ExecuteAnswer } from './answers.ts'
import { viewRun } from './run-view.ts'

/**
 * From memory, for a caller who wants nothing else of a run that is done: the rest of its answer is
 * not made. Null where it is not at hand.
 */
export function cachedRawAnswer(
  store: Store,
  { run, cachedEvents }: ActiveRun,
  status: RunStatus,
): ExecuteAnswer | null {
  if (status !== 'done') return null
  const resolved = cachedEvents('call.resolved')?.find(
    (event) => event.type === 'call.resolved' && event.body.call === '1',
  )
  const raw = resolved?.type === 'call.resolved' ? resolved.body.answer : undefined
  return raw === undefined || blobOf(raw) !== null ? null : { status, run, raw: read(store, raw) }
}

/** From the record; null where the server did not answer, or where that was not kept. */
export function rawAnswerOf(store: Store, run: RunId): Answer | null {
  const raw = viewRun(store, run).calls.find(({ call }) => call === '1')?.resolved?.answer
  return raw === undefined ? null : read(store, raw)
}

const read = (store: Store, raw: Stored<unknown>) => store.value(raw) as Answer
