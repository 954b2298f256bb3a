/** What a server answered to the first call of a run, as it came. */
import type { Answer, RunId } from '#model'
import type { Store } from '#record'

export function wholeOf(store: Store, run: RunId): Answer | null {
  for (const event of store.events(run, { type: 'call.resolved' })) {
    if (event.type !== 'call.resolved' || event.body.call !== '1') continue
    return event.body.answer === undefined ? null : (JSON.parse(store.text(event.body.answer)) as Answer)
  }
  return null
}
