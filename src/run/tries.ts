/** How a call is tried until its outcome is known: the three outcomes of a try, and what each allows. */
import { setImmediate as turn } from 'node:timers/promises'
import {
  AppError,
  type Effect,
  type Json,
  limits,
  mayRepeat,
  parseTraceparent,
  RawJson,
  splitToolId,
  type Try,
  toText,
  traceparentOf,
} from '#model'
import type { Secrets } from '#record'
import { argumentsToSend, type Hidden, type OpenCall } from './call.ts'
import type { Desk } from './desk.ts'

type Made = Try | ({ outcome: 'answered' } & Hidden)

export type Outcome =
  | Exclude<Made, { outcome: 'unknown' }>
  | { outcome: 'given_up'; error: AppError }
  | { outcome: 'in_doubt' }

/** `sent` puts the try on the record, durably, before it is made; it says no when the call was ended meanwhile. */
export type Tries = {
  sent(): Promise<boolean>
  make(): Promise<Made>
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
    make: async () => {
      const { id, attempt, definition, timeoutMs = limits.callTimeoutMsDefault } = call
      const { value: args } = secrets.reveal(argumentsToSend(call), server)
      const live = {
        ...(trace && { traceparent: traceparentOf(trace, chain.run, id) }),
        ...(call.whole && { whole: true }),
        ...(attendant && { attendant }),
      }
      const work = { run: chain.run, call: id, attempt, tool: definition!, args, timeoutMs, ...live }
      const made = await queue.hand(work, call.abort.signal)
      return made.outcome === 'answered' && made.ok ? withoutSecrets(made, secrets, server) : made
    },
  }
}

type Answered = Extract<Try, { ok: true }>

/** Before it takes its place in the record, and a slice at a time: nobody else waits for a large result. */
async function withoutSecrets(answered: Answered, secrets: Secrets, server: string): Promise<Made> {
  const { value, answer, ...rest } = answered
  try {
    const hidden = { ...rest, value: await hiddenText(value, secrets, server) }
    return answer === undefined ? hidden : { ...hidden, answer: await hiddenText(answer, secrets, server) }
  } catch (error) {
    if (error instanceof AppError) return { ...rest, ok: false, error }
    throw error
  }
}

function hiddenText(value: Json, secrets: Secrets, server: string): RawJson | Promise<RawJson> {
  const hidden = secrets.hideInSlices(value, server)
  return hidden instanceof Promise ? hidden.then(textLater) : new RawJson(toText(hidden))
}

async function textLater(value: Json): Promise<RawJson> {
  await turn()
  const text = new RawJson(toText(value))
  await turn()
  return text
}
