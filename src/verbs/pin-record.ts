/** The home's chain as the place where the catalogue keeps which tool definitions hold. */
import type { PinRecord } from '#catalog'
import { type Event, homeChain, type ToolDiff } from '#model'
import type { Store } from '#record'

const types = ['tool.pinned', 'tool.changed', 'tool.accepted'] as const
type PinType = (typeof types)[number]

export function pinRecord(store: Store): PinRecord {
  /** A large diff stands as a blob. */
  const whole = (event: Event<PinType>): Event<PinType> => {
    if (event.type === 'tool.accepted') return event
    const diff = JSON.parse(store.text(event.body.diff)) as ToolDiff
    return { ...event, body: { ...event.body, diff } } as Event<PinType>
  }
  return {
    read(after) {
      const events = types.flatMap((type) => store.events(homeChain, { after, type }) as Event<PinType>[])
      return events.sort((left, right) => left.n - right.n).map(whole)
    },
    async append(events) {
      await Promise.all(events.map(({ type, body }) => store.appendHome(type, body)))
    },
  }
}
