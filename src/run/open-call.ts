/**
 * One open call of a run: what it is, where it stands, and how it is tried until its outcome is
 * known.
 */
import type { Catalog } from '#catalog'
import {
  type Answer,
  AppError,
  type Budget,
  type Effect,
  type ErrorData,
  type EventBodies,
  fromErrorData,
  type IssuedCall,
  isReadOnly,
  type Json,
  keyParameter,
  limits,
  mayRepeat,
  type Plan,
  type ProgramEnd,
  RawJson,
  type RunId,
  splitToolId,
  type Tool,
  toText,
  type Usage,
} from '#model'

import type { Secrets } from '#record'
import type { RunPolicy } from '#run/policy'
import { dangerOf, decide, type Verdict } from '#run/policy'
import { overspent, type Spent } from './budget-spent.ts'
import { leakOf, lostSecret } from './call-secrets.ts'
import { isEngineTool } from './engine-tools.ts'
import { withKey } from './idempotency-key.ts'
import type { RecordedCall } from './journal.ts'

export type OpenCall = {
  id: string
  tool: string
  /** The program's own bytes; replay compares them. */
  args: string
  refused?: string
  refusal?: ErrorData
  task?: string
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
  /** Committed to the record, and not yet known to be answered, unsent or lost. */
  isInFlight: boolean
  /** An earlier try of it may have had its effect. */
  isInDoubt: boolean
  /** `nested` moves when the program inside it does. */
  state: 'moving' | 'asking' | 'uncertain' | 'nested'
  approval?: { id: string; digest: string; expiresAt: number }
  abort: AbortController
  timer?: AbortController
}

export function newOpenCall(id: string, issuedAt: number) {
  const facts = { isApproved: false, isInFlight: false, isInDoubt: false }
  return { id, issuedAt, attempt: 0, ...facts, state: 'moving' as const, abort: new AbortController() }
}

/** A call of the record, open again; its definition is looked up again. */
export function reopened(recorded: RecordedCall, issued: IssuedCall, issuedAt: number): OpenCall {
  const { id, effect, key, edited, attempt, answered, last } = recorded
  return {
    ...withoutCode(issued),
    ...newOpenCall(id, issuedAt),
    definition: null,
    effect,
    ...(key === undefined ? {} : { key }),
    ...(edited === undefined ? {} : { edited }),
    attempt,
    isApproved: answered?.answer === 'approved',
    isInDoubt: last === 'sent',
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
export function argumentsToSend(call: OpenCall): Json {
  const parameter = call.effect === null ? null : keyParameter(call.effect)
  const isKeyed = parameter !== null && call.key !== undefined
  return isKeyed ? withKey(argumentsOf(call), parameter, call.key!) : argumentsOf(call)
}

/**
 * A value as the program gets it; a larger one is recorded whole, and the program is told where it
 * is.
 */
function tooLarge(run: RunId, call: OpenCall, bytes: number): AppError | null {
  const bytesMax = limits.resultBytesMax
  if (bytes <= bytesMax) return null
  const message = `Cannot hand the result of "${call.tool}" to the program: it has ${bytes} bytes, at most ${bytesMax} are handed over; page it with result`
  return new AppError('RESULT_TOO_LARGE', message, {
    tool: call.tool,
    bytes,
    handle: { run, call: call.id },
  })
}

function argumentsOf(call: OpenCall): Json {
  return JSON.parse(call.edited ?? call.args) as Json
}

export function issuedBody({
  id,
  tool,
  task,
  args,
  edited,
  effect,
  key,
  definition,
  capability,
}: OpenCall): EventBodies['call.issued'] {
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

export type Result = ({ ok: true; value: Json } | { ok: false; error: AppError }) & { usage?: Usage; answer?: Answer }

/** The same where it is text without its secrets already. */
export type Hidden = { ok: true; value: RawJson; usage?: Usage; answer?: RawJson }

type Keeping = { secrets: Secrets; chain: { run: RunId }; plan: Plan['kind'] }

type Member = { ok: boolean; value?: RawJson; error?: ErrorData; answer?: RawJson; bytes: number }

/** What a result leaves in the record, without its secrets; one that cannot be kept leaves why. */
export function resultMember(call: OpenCall, result: Result | Hidden, keeping: Keeping): Member {
  try {
    return keptMember(call, result, keeping)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { context, ...told } = error.toJSON()
    return { ok: false, error: { ...told, context: { tool: call.tool, ...context } }, bytes: 0 }
  }
}

function keptMember(call: OpenCall, result: Result | Hidden, { secrets, chain, plan }: Keeping): Member {
  const from = splitToolId(call.tool)?.server ?? 'metier'
  const whole = wholeOf(result.answer, secrets, from)
  if (!result.ok) {
    const { context, ...error } = result.error.toJSON()
    const hidden = secrets.hide({ ...error, context: { tool: call.tool, ...context } } as Json, from)
    return { ok: false, ...bounded(hidden as unknown as ErrorData), ...whole, bytes: 0 }
  }
  const value = hiddenText(result.value, secrets, from)
  const bytes = Buffer.byteLength(value.text)
  refuseUnkept(call, bytes)
  const isForProgram = plan === 'code' || call.id.includes('.')
  const large = isForProgram ? tooLarge(chain.run, call, bytes) : null
  if (large !== null) return { ok: false, value, error: large.toJSON(), ...whole, bytes }
  return { ok: true, value, ...whole, bytes }
}

function refuseUnkept({ tool }: OpenCall, bytes: number): void {
  if (bytes <= limits.blobBytesMax) return
  const message = `Cannot record the result of "${tool}": it has ${bytes} bytes, at most ${limits.blobBytesMax} are kept; ask the tool for less`
  throw new AppError('RESULT_TOO_LARGE', message, { tool, bytes })
}

/**
 * An error is read whole by everybody who reads a run: what a tool says at length stands beside it,
 * to be paged with result.
 */
function bounded(error: ErrorData): { error: ErrorData; value?: RawJson } {
  const { message } = error
  const more = message.length - limits.toolErrorCharactersMax
  if (more <= 0) return { error }
  const said = `${message.slice(0, limits.toolErrorCharactersMax)} … and ${more} characters more; page them with result`
  const value = new RawJson(toText(message))
  const isKept = Buffer.byteLength(value.text) <= limits.blobBytesMax
  return { error: { ...error, message: said }, ...(isKept ? { value } : {}) }
}

/** An answer too large to be kept is left out: what is made of it may still fit. */
function wholeOf(answer: Answer | RawJson | undefined, secrets: Secrets, from: string): { answer?: RawJson } {
  if (answer === undefined) return {}
  const text = hiddenText(answer, secrets, from)
  return Buffer.byteLength(text.text) > limits.blobBytesMax ? {} : { answer: text }
}

function hiddenText(value: Json | RawJson, secrets: Secrets, from: string): RawJson {
  return value instanceof RawJson ? value : new RawJson(toText(secrets.hide(value, from)))
}

/** `secrets` where the call is really made. */
type Refusing = { budget: Budget; catalog: Pick<Catalog, 'near' | 'problemOf' | 'problemOfServer'>; secrets?: Secrets }

/** Why a call is not made at all, whatever the policy says. */
export function refusalOf(call: OpenCall, { budget, catalog, secrets }: Refusing, spent: Spent): AppError | null {
  const over = unsaid(call) ?? overspent(call.tool, budget, spent)
  if (over !== null) return over
  if (call.definition === null) {
    const unreachable = catalog.problemOfServer(call.tool)
    if (unreachable !== null) return unreachable
    const near = catalog.near(call.tool)
    const form = splitToolId(call.tool) === null ? 'a tool is named server:name' : 'discover finds what there is'
    const hint = near.length === 0 ? form : `did you mean ${near.join(' or ')}?`
    const message = `Cannot call "${call.tool}": there is no such tool; ${hint}`
    return new AppError('TOOL_NOT_FOUND', message, { tool: call.tool, ...(near.length > 0 && { near }) })
  }
  return catalog.problemOf(call.definition, argumentsToSend(call)) ?? lostSecret(call, secrets)
}

/** What the program could not say is refused as it said why. */
function unsaid({ tool, refused: details, refusal }: OpenCall): AppError | null {
  if (refusal !== undefined) return fromErrorData(refusal)
  if (details === undefined) return null
  return new AppError('INVALID_INPUT_PARAM', `Cannot call "${tool}": ${details}`, { param: 'args', details })
}

export function resultOfProgram(end: ProgramEnd): Result {
  return end.ok ? { ok: true, value: JSON.parse(end.value) as Json } : { ok: false, error: fromErrorData(end.error) }
}

/**
 * What becomes of a call that nobody needs any more: timers and reads are cancelled, and on a full
 * stop also what is not at its server, be it that it waits for a slot, for the next try or for a
 * human. What an earlier try may have done is not said to be undone: it is only not tried again.
 */
export function withdrawal(call: OpenCall, everything: boolean): 'cancel' | 'stop trying' | null {
  if (call.state === 'uncertain') return null
  if (isEngineTool(call.tool) || call.effect === null || isReadOnly(call.effect)) return 'cancel'
  if (!everything || call.isInFlight) return null
  return call.isInDoubt ? 'stop trying' : 'cancel'
}

/** Whether a call in doubt may be sent again; a server may have forgotten a key that is too old. */
export function mayResend({ effect, sentAt }: Pick<RecordedCall, 'effect' | 'sentAt'>, now: number): boolean {
  if (effect === null || !mayRepeat(effect)) return false
  return keyParameter(effect) === null || now - (sentAt ?? 0) < limits.keyMsMax
}

/** Why a human is asked even though the policy allows the call. */
export function reasonToAsk(call: OpenCall, secrets: Secrets): string | null {
  return leakOf(call, secrets) ?? (call.ask ? 'the task says that it has side effects' : null)
}

type Policy = Omit<RunPolicy, 'write'>

export function policyVerdict(call: OpenCall, { permissions, rules }: Policy): Verdict {
  const danger = call.definition === null ? null : dangerOf(call.definition)
  return decide({ tool: call.tool, effect: call.effect!, danger, args: argumentsOf(call) }, permissions, rules)
}

/** Whether nobody need be asked about a call. */
export function needsNoApproval(call: OpenCall, { policy, secrets }: { policy: Policy; secrets: Secrets }): boolean {
  return policyVerdict(call, policy).action === 'allow' && reasonToAsk(call, secrets) === null
}

/**
 * When a timer fires: it never waits longer than it says, also where the clock was put back since
 * the last event.
 */
export function dueOf({ args, edited = args, issuedAt }: OpenCall, now: number): number {
  const { ms = 0 } = JSON.parse(edited) as { ms?: number }
  return Math.min(issuedAt, now) + Math.min(Math.max(0, Number(ms) || 0), limits.timerMsMax)
}
