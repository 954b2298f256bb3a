/** What a server answered to the first call of a run, as it came. */
import type { Answer, JsonObject, RunId, RunStatus } from '#model'
import { blobOf, type Store } from '#record'
import type { ActiveRun } from '#run'
import { type RunView, viewRun } from './run-view.ts'

/** What an answer was made from, so that it need not be read again for the same caller. */
const seen = new WeakMap<JsonObject, RunView | { whole: Answer }>()

export function madeFrom(view: RunView, answer: JsonObject): JsonObject {
  seen.set(answer, view)
  return answer
}

/** For whoever wants nothing else of a run that is done: the rest of its answer is not made. Null where it is not at hand. */
export function wholeTold(store: Store, { run, told }: ActiveRun, status: RunStatus): JsonObject | null {
  if (status !== 'done') return null
  const resolved = told('call.resolved')?.find((event) => event.type === 'call.resolved' && event.body.call === '1')
  const whole = resolved?.type === 'call.resolved' ? resolved.body.answer : undefined
  if (whole === undefined || blobOf(whole) !== null) return null
  const answer: JsonObject = { status, run }
  seen.set(answer, { whole: store.value(whole) as unknown as Answer })
  return answer
}

export function wholeOf(store: Store, answer: JsonObject): Answer | null {
  if (typeof answer.run !== 'string') return null
  const from = seen.get(answer) ?? viewRun(store, answer.run as RunId)
  if ('whole' in from) return from.whole
  const whole = from.calls.find(({ call }) => call === '1')?.resolved?.answer
  return whole === undefined ? null : (store.value(whole) as unknown as Answer)
}
