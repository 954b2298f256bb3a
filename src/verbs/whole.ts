/** What a server answered to the first call of a run, as it came. */
import type { Answer, JsonObject, RunId } from '#model'
import type { Store } from '#record'
import { type RunView, viewRun } from './answer.ts'

/** What an answer was made from, so that it need not be read again for the same caller. */
const seen = new WeakMap<JsonObject, RunView>()

export function madeFrom(view: RunView, answer: JsonObject): JsonObject {
  seen.set(answer, view)
  return answer
}

export function wholeOf(store: Store, answer: JsonObject): Answer | null {
  if (typeof answer.run !== 'string') return null
  const { calls } = seen.get(answer) ?? viewRun(store, answer.run as RunId)
  const whole = calls.find(({ call }) => call === '1')?.resolved?.answer
  return whole === undefined ? null : (JSON.parse(store.text(whole)) as Answer)
}
