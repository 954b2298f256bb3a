/** How a call is tried until its outcome is known: the three outcomes of a try, and what each allows. */
import {
  type AppError,
  type Effect,
  limits,
  mayRepeat,
  parseTraceparent,
  RawJson,
  splitToolId,
  type Try,
  traceparentOf,
} from '#model'
import { argumentsToSend, type OpenCall } from './call.ts'
import type { Desk } from './desk.ts'

export type Outcome =
  | Exclude<Try, { outcome: 'unknown' }>
  | { outcome: 'given_up'; error: AppError }
  | { outcome: 'in_doubt' }

/** `sent` puts the try on the record, durably, before it is made; it says no when the call was ended meanwhile. */
export type Tries = {
  sent(): Promise<boolean>
  make(): Promise<Try>
  pause(ms: number, signal: AbortSignal): Promise<void>
  signal: AbortSignal
  now(): number
  /** True when the run is being stopped: what was tried may be answered, but nothing is tried again. */
  isLast(): boolean
}

/** Not sent: again, whatever the tool. Answered: that is it. Unknown: again only where repeating is safe. */
export async function tryUntilKnown(
  effect: Effect,
  { sent, make, pause, now, signal, isLast }: Tries,
): Promise<Outcome | null> {
  const began = now()
  for (let tries = 1; ; tries++) {
    if (!(await sent())) return null
    const outcome = await make()
    if (outcome.outcome === 'answered') return outcome
    const final = outcome.error.fate === 'give_up' || tries >= limits.notSentTriesMax || isLast()
    if (outcome.outcome === 'not_sent' && final) return outcome
    if (outcome.outcome === 'unknown') {
      if (!mayRepeat(effect)) return { outcome: 'in_doubt' }
      if (isLast() || tries > limits.unknownTriesMax || now() - began > limits.unknownTriesWithinMs) {
        return { outcome: 'given_up', error: outcome.error }
      }
    }
    await pause(50 * 2 ** tries, signal).catch(() => {})
    if (isLast()) return outcome.outcome === 'not_sent' ? outcome : { outcome: 'given_up', error: outcome.error }
  }
}

type Sending = Pick<Desk, 'chain' | 'queue' | 'secrets' | 'journal' | 'attendant' | 'isStopped'> &
  Pick<Tries, 'now' | 'pause'>

/** Commit before effect: a try is on the record, durably, before a byte of it leaves. True secrets are put in at the last moment. */
export function triesOf(call: OpenCall, desk: Sending, isOpen: () => boolean): Tries {
  const { chain, queue, secrets, journal, attendant, now, pause, isStopped } = desk
  const { server } = splitToolId(call.tool)!
  const trace = parseTraceparent(journal.started.traceparent)
  return {
    now,
    pause,
    isLast: isStopped,
    signal: call.abort.signal,
    sent: async () => {
      if (!isOpen() || isStopped()) return false
      call.attempt += 1
      const edited = call.edited === undefined ? {} : { args: new RawJson(call.edited) }
      chain.append('call.sent', { call: call.id, attempt: call.attempt, ...edited })
      await chain.durable()
      return isOpen()
    },
    make: () => {
      const { id, attempt, definition, timeoutMs = limits.callTimeoutMsDefault } = call
      const { value: args } = secrets.reveal(argumentsToSend(call), server)
      const live = {
        ...(trace && { traceparent: traceparentOf(trace, chain.run, id) }),
        ...(call.whole && { whole: true }),
        ...(attendant && { attendant }),
      }
      const work = { run: chain.run, call: id, attempt, tool: definition!, args, timeoutMs, ...live }
      return queue.hand(work, call.abort.signal)
    },
  }
}
