/** A run that goes another way from one of its calls on: what came before is taken from the record, what follows is made anew. */
import { type Event, type EventBodies, RawJson } from '#model'
import type { Chain } from '#record'
import { placeOf } from './place.ts'

type Copied = Event<'call.issued' | 'call.resolved'>

/** The calls before the fork, with those of programs that ran as one of them. */
export function eventsBefore(events: Event[], at: number): Copied[] {
  const isCopied = (event: Event): event is Copied => event.type === 'call.issued' || event.type === 'call.resolved'
  const resolved = new Set(events.flatMap((event) => (event.type === 'call.resolved' ? [event.body.call] : [])))
  return events.filter(isCopied).filter(({ body }) => topOf(body.call) < at && resolved.has(body.call))
}

function topOf(id: string): number {
  const { program, number } = placeOf(id)
  return program === '' ? number : topOf(program)
}

/** Results keep their exact bytes; the record says that they came from it. */
export function copyEvents(chain: Chain, events: Copied[], text: (value: unknown) => string): void {
  for (const event of events) {
    if (event.type === 'call.issued') {
      chain.append('call.issued', { ...event.body, args: new RawJson(text(event.body.args)) })
      continue
    }
    const { value } = event.body
    const exact: Partial<EventBodies['call.resolved']> = value === undefined ? {} : { value: new RawJson(text(value)) }
    chain.append('call.resolved', { ...event.body, ...exact, by: 'record' })
  }
}
