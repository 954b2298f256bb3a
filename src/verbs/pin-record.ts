/** The home's chain as the place where the catalogue keeps which tool definitions hold. */
import type { PinRecord } from '#catalog'
import { type Event, homeChain } from '#model'
import type { Store } from '#record'

const types = ['tool.pinned', 'tool.changed', 'tool.accepted'] as const
type PinType = (typeof types)[number]

export function pinRecord(store: Store): PinRecord {
  return {
    readOf: (tool, after) => store.pinsOf(tool, after),
    anchor: () => store.lastPin() ?? null,
    holds: ({ type, n, hash }) => store.homeHash(type, n) === hash,
    read(after) {
      const events = types.flatMap((type) => store.events(homeChain, { after, type }) as Event<PinType>[])
      return events.sort((left, right) => left.n - right.n)
    },
    async append(events) {
      await Promise.all(events.map(({ type, body }) => store.appendHome(type, body)))
    },
  }
}
