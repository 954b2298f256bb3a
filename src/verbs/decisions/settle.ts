/**
 * What a human says of a call in doubt: that it was done, that it failed, or that it is to be sent
 * again.
 */
import type { AppError, EventBodies, Json, RunId } from '#model'
import type { Store } from '#record'
import type { Caller, Parts } from '#verbs/execute'
import { invalid, refuseDeep } from '#verbs/input'
import { type CallView, type MovedAnswer, type RunView, viewRun } from '#verbs/views'
import { refuseDenied } from './check-approval.ts'
import { moveOn } from './decide.ts'

export type Settlement = { how: 'done'; value: Json } | { how: 'failed'; text: string } | { how: 'again' }

/**
 * The word is bound to the try whose outcome is unknown: it does not hold for a later one. Of
 * several who settle a call at once the first holds, and the others are told: nothing may have
 * happened to the run, nor been said of the call, when the word is written.
 */
export async function settleCall(
  parts: Parts,
  run: RunId,
  call: string,
  settling: Settlement,
  caller: Caller,
  goOn: boolean,
): Promise<MovedAnswer> {
  const { store } = parts
  const { view, found } = inDoubt(store, run, call)
  if (settling.how === 'done') refuseDeep('value', settling.value)
  if (settling.how === 'again') refuseDenied(parts, view, found)
  const { name: who, kind: from } = caller.actor
  const attempt = found.attempts
  await store.send(run, 'call.settled', { call, attempt, ...settling, who, from }, () => {
    const { found, count } = inDoubt(store, run, call)
    if (found.attempts !== attempt) throw notInDoubt(call, 'it was sent again meanwhile')
    return { count }
  })
  return moveOn(parts, run, caller, goOn)
}

/**
 * `count` is how many events the run has. Throws where the call is not in doubt, or was settled and
 * that was not applied yet.
 */
function inDoubt(store: Store, run: RunId, call: string): { view: RunView; found: CallView; count: number } {
  // Counted first: what is written during the look makes the count too small, and the word is not
  // taken.
  const count = store.count(run)
  const view = viewRun(store, run)
  const { status } = view.row
  const found = view.calls.find((candidate) => candidate.call === call)
  if (found?.status !== 'sent' || status === 'running') throw notInDoubt(call, reasonOf(found, status))
  const before = settlementOf(store, run, found)
  if (before !== undefined) throw notInDoubt(call, `it was settled before, by ${before.who} (${before.from})`)
  return { view, found, count }
}

function reasonOf(found: CallView | undefined, status: string): string {
  if (found === undefined) return 'there is no such call'
  return found.status === 'sent' ? `the run is ${status}` : `it is ${found.status}`
}

/** What was said of this try and is on its way into the record. */
function settlementOf(store: Store, run: RunId, { call, attempts }: CallView): EventBodies['call.settled'] | undefined {
  return store.inbox(run).flatMap(({ type, body }) => {
    const isOfTry = type === 'call.settled' && body.call === call && (body.attempt ?? attempts) === attempts
    return isOfTry ? [body] : []
  })[0]
}

function notInDoubt(call: string, why: string): AppError {
  return invalid('call', `call ${call} of this run is not in doubt: ${why}`, call)
}
