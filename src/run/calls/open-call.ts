/**
 * One open call of a run: what it is, and where it stands.
 *
 *   a tool   issued ─┬─ refused, or answered by a mock ───────────────────────────► resolved
 *                    ├─ policy asks ─► asking ─┬─ no, or expired ─────────────────► resolved
 *                    │                    ▲    └─ yes ─┐
 *                    │         policy asks│again       ▼
 *                    └─ policy allows ────┴───────► sending ─┬─ an outcome ───────► resolved
 *                                                      ▲     └─ in doubt ─┐
 *                                                      │                  ▼
 *                                          send again ─┴───────────── uncertain ──► resolved
 *   a timer    issued ─► waiting ─ due ───────────────────────────────────────────► resolved
 *   a program  issued ─► nested ─ its program ended, or its time is up ───────────► resolved
 *
 * A call that is not needed any more is cancelled, unless it may have had its effect
 * (withdrawal()).
 */
import {
  type Effect,
  type ErrorData,
  type EventBodies,
  type IssuedCall,
  isReadOnly,
  type Json,
  keyParameter,
  limits,
  mayRepeat,
  RawJson,
  type Tool,
} from '#model'
import type { RecordedCall } from '#run/record'
import { isEngineTool } from './engine-tools.ts'
import { withKey } from './idempotency-key.ts'

export type OpenCall = CallFacts & { state: CallState }

/** A call as it is judged, whatever its state. */
export type CallFacts = {
  id: string
  tool: string
  /** The program's own bytes; replay compares them. */
  args: string
  refused?: string
  refusal?: ErrorData
  task?: string
  /** The tool as it is now; null for what the engine does itself, and where there is none. */
  definition: Tool | null
  /** The digest of a capability that runs as this call. */
  capability?: string
  effect: Effect | null
  key?: string
  attempt: number
  /** The time of the turn that issued it. */
  issuedAt: number
  /** Arguments that a human put in place of the program's. */
  edited?: string
  timeoutMs?: number
  whole?: boolean
  ask?: boolean
  /**
   * A human said yes to these arguments, or said of a call in doubt that it is to be sent again.
   */
  isApproved: boolean
  /** An earlier try of it may have had its effect. */
  isInDoubt: boolean
}

type CallState =
  /** Until it is judged, in the same step. */
  | { name: 'issued' }
  | { name: 'asking'; approval: { id: string; digest: string }; timer: AbortController }
  /** `isCommitted`: on the record as sent, and not yet known to be answered, unsent or lost. */
  | { name: 'sending'; target: Target; abort: AbortController; isCommitted: boolean }
  | { name: 'uncertain' }
  | { name: 'waiting'; timer: AbortController }
  | { name: 'nested'; timer: AbortController }

/** What a call is sent to: a tool as it is now, and the class that this call has. */
export type Target = { definition: Tool; effect: Effect }

export type SendingCall = OpenCall & { state: Extract<CallState, { name: 'sending' }> }
type AskingCall = OpenCall & { state: Extract<CallState, { name: 'asking' }> }

export function isAsking(call: OpenCall): call is AskingCall {
  return call.state.name === 'asking'
}

/** Ends what a call waits for: a time, or the outcome of its try. */
export function stopWaiting({ state }: OpenCall): void {
  if ('timer' in state) state.timer.abort()
  if ('abort' in state) state.abort.abort()
}

export function newFacts(id: string, issuedAt: number) {
  return { id, issuedAt, attempt: 0, isApproved: false, isInDoubt: false }
}

/** A call of the record, open again; its definition is looked up again. */
export function reopened(recorded: RecordedCall, issued: IssuedCall, issuedAt: number): OpenCall {
  const { id, effect, key, edited, attempt, answered, last } = recorded
  return {
    ...withoutCode(issued),
    ...newFacts(id, issuedAt),
    definition: null,
    effect,
    ...(key === undefined ? {} : { key }),
    ...(edited === undefined ? {} : { edited }),
    attempt,
    isApproved: answered?.answer === 'approved',
    isInDoubt: last === 'sent',
    state: { name: 'issued' },
  }
}

/** What a call keeps of how it was issued. */
export function withoutCode({ code: _, tasks: __, ...issued }: IssuedCall): Omit<IssuedCall, 'code' | 'tasks'> {
  return issued
}

/**
 * What is sent: the arguments, edited or not, and the key where the tool takes one and the program
 * gave none.
 */
export function argumentsToSend(call: CallFacts, args = argumentsOf(call)): Json {
  const parameter = call.effect === null ? null : keyParameter(call.effect)
  const isKeyed = parameter !== null && call.key !== undefined
  return isKeyed ? withKey(args, parameter, call.key!) : args
}

export function argumentsOf(call: CallFacts): Json {
  return JSON.parse(call.edited ?? call.args) as Json
}

export function issuedBody(call: CallFacts): EventBodies['call.issued'] {
  const { id, tool, task, args, edited, effect, key, definition, capability } = call
  return {
    call: id,
    tool,
    ...(task === undefined ? {} : { task }),
    args: new RawJson(args),
    ...(edited === undefined ? {} : { edited: new RawJson(edited) }),
    effect,
    effectFrom: definition?.effectFrom ?? null,
    ...(key === undefined ? {} : { key }),
    definition: definition?.digest ?? capability ?? null,
  }
}

/**
 * What becomes of a call that is not needed any more: timers and reads are cancelled, and on a full
 * stop also what is not at its server, be it that it waits for a slot, for the next try or for a
 * human. What an earlier try may have done is not said to be undone: it is only not tried again.
 */
export function withdrawal(call: OpenCall, everything: boolean): 'cancel' | 'stop trying' | null {
  const { state } = call
  if (state.name === 'uncertain') return null
  if (isEngineTool(call.tool) || call.effect === null || isReadOnly(call.effect)) return 'cancel'
  if (!everything || (state.name === 'sending' && state.isCommitted)) return null
  return call.isInDoubt ? 'stop trying' : 'cancel'
}

/** Whether a call in doubt may be sent again; a server may have forgotten a key that is too old. */
export function mayResend({ effect, sentAt }: Pick<RecordedCall, 'effect' | 'sentAt'>, now: number): boolean {
  if (effect === null || !mayRepeat(effect)) return false
  return keyParameter(effect) === null || now - (sentAt ?? 0) < limits.keyMsMax
}

/**
 * When a timer fires: it never waits longer than it says, also where the clock was put back since
 * the last event.
 */
export function dueOf({ args, edited = args, issuedAt }: CallFacts, now: number): number {
  const { ms = 0 } = JSON.parse(edited) as { ms?: number }
  return Math.min(issuedAt, now) + Math.min(Math.max(0, Number(ms) || 0), limits.timerMsMax)
}
