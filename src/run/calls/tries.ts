/**
 * How a call is tried until its outcome is known.
 *
 *   hand over ──► wait for a slot and a connection ──► judge, commit call.sent ──► send ──► outcome
 *      ▲                     │                              │                                 │
 *      └───── not sent ◄─────┴──────── ended, or held ◄─────┘         answered: that is it ◄──┤
 *      └───── unknown, where repeating is safe ◄──────────────────────────────────────────────┘
 *
 * What may have been done before is never said to be undone.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import {
  AppError,
  assert,
  type Effect,
  isBuiltIn,
  type Json,
  limits,
  mayRepeat,
  parseTraceparent,
  RawJson,
  sessionServers,
  splitToolId,
  type Try,
  toText,
  traceparentOf,
} from '#model'
import { loadSecrets } from '#record'
import type { CallContext } from './call-context.ts'
import type { Hidden } from './call-result.ts'
import { mayBeSent } from './judge-call.ts'
import { argumentsToSend, type SendingCall } from './open-call.ts'

const { placeholdersIn } = await loadSecrets()

type Attempted = Try | ({ outcome: 'answered' } & Hidden)

/**
 * The call was ended before anything was sent; or policy, asked as it was about to be sent, did not
 * let it out.
 */
type Unsent = { outcome: 'ended' } | { outcome: 'held' }

export type Outcome =
  | Exclude<Attempted, { outcome: 'unknown' }>
  | { outcome: 'given_up'; error: AppError }
  | { outcome: 'in_doubt' }
  | Unsent

type Tries = {
  /** One try. It is on the record, durably, before a byte of it leaves. */
  make(): Promise<Attempted | Unsent>
  pause(ms: number, signal: AbortSignal): Promise<void>
  signal: AbortSignal
  now(): number
  /**
   * True when the run is being stopped: what was tried may be answered, but nothing is tried again.
   */
  isLast(): boolean
  /**
   * An earlier try may have had its effect: a call that is not sent now is not known to be undone.
   */
  isInDoubt(): boolean
}

/**
 * Not sent: again, whatever the tool. Answered: that is it. Unknown: again only where repeating is
 * safe.
 */
export async function tryUntilKnown(effect: Effect, tries: Tries): Promise<Outcome> {
  const { make, pause, now, signal, isLast, isInDoubt } = tries
  const began = now()
  const failures = { not_sent: 0, unknown: 0, since: Number.POSITIVE_INFINITY }
  for (let pauseMs: number = limits.retryMsMin; ; pauseMs *= 2) {
    const outcome = await make()
    if (outcome.outcome === 'ended' && isInDoubt() && !mayRepeat(effect)) return { outcome: 'in_doubt' }
    if (outcome.outcome !== 'not_sent' && outcome.outcome !== 'unknown') return outcome
    failures[outcome.outcome] += 1
    failures.since = Math.min(failures.since, now())
    const isDoubtful = isInDoubt() || failures.unknown > 0
    if (outcome.outcome === 'unknown' && !mayRepeat(effect)) return { outcome: 'in_doubt' }
    if (isLast() || isFinal(outcome, failures, { began, now: now() })) return givenUp(effect, outcome, isDoubtful)
    await pause(pauseBefore(outcome, pauseMs), signal).catch(() => {})
    if (isLast()) return givenUp(effect, outcome, isDoubtful)
  }
}

type Unsuccessful = Extract<Try, { outcome: 'not_sent' | 'unknown' }>
type NotSent = Extract<Try, { outcome: 'not_sent' }>
type Unknown = Extract<Try, { outcome: 'unknown' }>

/**
 * As long as the server that refused the try asks for; each pause is twice as long as the one
 * before. One that says how long to wait is given minutes, any other less than a second.
 */
function pauseBefore(outcome: Unsuccessful, pauseMs: number): number {
  const retryAfterMs = outcome.outcome === 'not_sent' ? outcome.retryAfterMs : undefined
  if (retryAfterMs === undefined) return Math.min(pauseMs, limits.retryMsMax)
  return Math.min(Math.max(pauseMs, retryAfterMs), limits.retryAfterMsMax)
}

type Failures = { not_sent: number; unknown: number; since: number }
type Times = { began: number; now: number }

function isFinal(outcome: Unsuccessful, failures: Failures, times: Times): boolean {
  return outcome.outcome === 'unknown'
    ? isLastUnknown(outcome, failures, times)
    : isLastUnsent(outcome, failures, times)
}

/**
 * A try that says how often it is worth trying again is followed. Else a time-out has used its time
 * already, and any other failure has as long from the first one on.
 */
function isLastUnknown({ error, retriesMax }: Unknown, { unknown, since }: Failures, { began, now }: Times): boolean {
  if (retriesMax !== undefined) return unknown > retriesMax
  const from = error.code === 'CALL_TIMEOUT' ? began : since
  return unknown > limits.unknownTriesMax || now - from > limits.unknownTriesWithinMs
}

/**
 * A server that cannot be reached may be back in a moment, for instance because it was killed and
 * is started again.
 */
function isLastUnsent({ error, retryAfterMs }: NotSent, { not_sent: tries, since }: Failures, { now }: Times): boolean {
  if (error.fate === 'give_up') return true
  if (retryAfterMs !== undefined)
    return now + Math.min(retryAfterMs, limits.retryAfterMsMax) - since > limits.retryAfterMsTogether
  if (error.code !== 'UPSTREAM_UNREACHABLE') return tries >= limits.notSentTriesMax
  return tries >= limits.unreachableTriesMax || now - since > limits.unreachableMsMax
}

/** Nothing may be said to be undone that an earlier try may have done. */
function givenUp(effect: Effect, { outcome, error }: Unsuccessful, isDoubtful: boolean): Outcome {
  if (outcome === 'not_sent' && !isDoubtful) return { outcome, error }
  return mayRepeat(effect) ? { outcome: 'given_up', error } : { outcome: 'in_doubt' }
}

type Sending = Pick<CallContext, 'chain' | 'queue' | 'secrets' | 'journal' | 'attendant' | 'policy'> &
  Pick<Tries, 'now' | 'pause'>

/** What its run says of a call while it is tried. */
type Wanted = {
  /** False when it was resolved, or its run let go of it. */
  isOpen(): boolean
  /** True when the run is being stopped: nothing more is sent. */
  isStopped(): boolean
}

/**
 * Commit before effect: the maker of the try calls `commit` when it has a slot and a connection,
 * and sends only then. True secrets are put in at the last moment; a built-in tool gets none.
 */
export function triesOf(call: SendingCall, context: Sending, { isOpen, isStopped }: Wanted): Tries {
  const { chain, queue, secrets, journal, attendant, now, pause } = context
  const { state } = call
  const { definition, effect } = state.target
  const { server } = splitToolId(call.tool)!
  const trace = parseTraceparent(journal.started.traceparent)

  /** Null where the try may be sent: it is on the record. */
  async function commit(attempt: number): Promise<Unsent | null> {
    if (!isOpen() || isStopped()) return { outcome: 'ended' }
    if (!mayBeSent(call, context)) return { outcome: 'held' }
    call.attempt = attempt
    state.isCommitted = true
    const edited = call.edited === undefined ? {} : { args: new RawJson(call.edited) }
    const classed = call.edited !== undefined && definition.effectFor ? { effect } : {}
    chain.append('call.sent', { call: call.id, attempt, ...edited, ...classed })
    await chain.durable()
    return isOpen() ? null : { outcome: 'ended' }
  }

  async function make(): Promise<Attempted | Unsent> {
    const { id } = call
    const timeoutMs = call.timeoutMs ?? definition.timeoutMs ?? limits.callTimeoutMsDefault
    const given = argumentsToSend(call)
    const args = isBuiltIn(call.tool) ? given : secrets.reveal(given, server).value
    const live = {
      ...(trace && { traceparent: traceparentOf(trace, chain.run, id) }),
      ...(call.whole && { whole: true }),
      ...(attendant && { attendant }),
    }
    const attempt = call.attempt + 1
    const work = { run: chain.run, call: id, attempt, tool: definition, args, timeoutMs, ...live }
    const commits: Promise<Unsent | null>[] = []
    const made = await queue.submit(work, state.abort.signal, async () => {
      const committed = commit(attempt)
      commits.push(committed)
      // A record that refuses the event breaks the run, not the maker: that is thrown below.
      return (await committed.catch(() => undefined)) === null
    })
    // With an answer it stays committed until that is on the record: a process that ends waits for
    // it.
    if (made.outcome !== 'answered') state.isCommitted = false
    if (made.outcome === 'unknown') call.isInDoubt = true
    for (const unsent of await Promise.all(commits)) if (unsent !== null) return unsent
    assert(commits.length === 1 || made.outcome === 'not_sent', 'nothing is sent before it is committed, once')
    if (made.outcome !== 'answered' || !made.ok) return made
    // A model may say again what stood in its request; look-alikes of others are broken up.
    const kept = server === sessionServers[0] ? placeholdersIn(toText(given)) : undefined
    return redactResult(made, (value) => hiddenText(secrets.hideInSlices(value, server, kept)))
  }

  return { now, pause, isLast: isStopped, signal: state.abort.signal, isInDoubt: () => call.isInDoubt, make }
}

type Answered = Extract<Try, { ok: true }>
type Hide = (value: Json) => RawJson | Promise<RawJson>

/**
 * Before it takes its place in the record, and a slice at a time: a large result does not block the
 * event loop.
 */
async function redactResult(answered: Answered, hide: Hide): Promise<Attempted> {
  const { value, answer, ...rest } = answered
  try {
    const hidden = { ...rest, value: await hide(value) }
    return answer === undefined ? hidden : { ...hidden, answer: await hide(answer) }
  } catch (error) {
    if (error instanceof AppError) return { ...rest, ok: false, error }
    throw error
  }
}

function hiddenText(hidden: Json | Promise<Json>): RawJson | Promise<RawJson> {
  return hidden instanceof Promise ? hidden.then(textLater) : new RawJson(toText(hidden))
}

async function textLater(value: Json): Promise<RawJson> {
  await yieldToEventLoop()
  const text = new RawJson(toText(value))
  await yieldToEventLoop()
  return text
}
