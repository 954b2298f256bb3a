/** What becomes of a call's result in the record: without its secrets, within its bounds. */
import {
  type Answer,
  AppError,
  type ErrorData,
  type EventBodies,
  fromErrorData,
  type Json,
  limits,
  type Plan,
  type ProgramEnd,
  RawJson,
  type RunId,
  splitToolId,
  toText,
  type Usage,
} from '#model'
import type { Secrets } from '#record'

/** The call that a result belongs to. */
type Resolving = { id: string; tool: string; attempt: number }

/** How a call came to its result. */
export type Conclusion = Pick<EventBodies['call.resolved'], 'outcome' | 'by'> & { ms?: number }

export type Result = ({ ok: true; value: Json } | { ok: false; error: AppError }) & { usage?: Usage; answer?: Answer }

/** The same where it is text without its secrets already. */
export type Hidden = { ok: true; value: RawJson; usage?: Usage; answer?: RawJson }

type Keeping = { secrets: Secrets; chain: { run: RunId }; plan: Plan['kind'] }

type Member = { ok: boolean; value?: RawJson; error?: ErrorData; answer?: RawJson; bytes: number }

/** What the record says of a call that is over, and how much of it the program gets. */
export function resolvedBody(
  call: Resolving,
  { outcome, by, ms = 0 }: Conclusion,
  result: Result | Hidden,
  keeping: Keeping,
) {
  const { bytes, ...member } = resultMember(call, result, keeping)
  const facts = { call: call.id, attempt: call.attempt, outcome, ...member, ms: Math.max(0, Math.round(ms)) }
  const body: EventBodies['call.resolved'] = { ...facts, ...(result.usage && { usage: result.usage }), by }
  return { body, bytes }
}

/** What a result leaves in the record, without its secrets; one that cannot be kept leaves why. */
export function resultMember(call: Resolving, result: Result | Hidden, keeping: Keeping): Member {
  try {
    return keptMember(call, result, keeping)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { context, ...told } = error.toJSON()
    return { ok: false, error: { ...told, context: { tool: call.tool, ...context } }, bytes: 0 }
  }
}

function keptMember(call: Resolving, result: Result | Hidden, { secrets, chain, plan }: Keeping): Member {
  const from = splitToolId(call.tool)?.server ?? 'metier'
  const whole = wholeOf(result.answer, secrets, from)
  if (!result.ok) {
    const { context, ...error } = result.error.toJSON()
    const hidden = secrets.hide({ ...error, context: { tool: call.tool, ...context } } as Json, from)
    return { ok: false, ...bounded(hidden as ErrorData), ...whole, bytes: 0 }
  }
  const value = hiddenText(result.value, secrets, from)
  const bytes = Buffer.byteLength(value.text)
  refuseUnkept(call, bytes)
  const isForProgram = plan === 'code' || call.id.includes('.')
  const large = isForProgram ? tooLarge(chain.run, call, bytes) : null
  if (large !== null) return { ok: false, value, error: large.toJSON(), ...whole, bytes }
  return { ok: true, value, ...whole, bytes }
}

/**
 * A value as the program gets it; a larger one is recorded whole, and the program is told where it
 * is.
 */
function tooLarge(run: RunId, call: Resolving, bytes: number): AppError | null {
  const bytesMax = limits.resultBytesMax
  if (bytes <= bytesMax) return null
  const message = `Cannot hand the result of "${call.tool}" to the program: it has ${bytes} bytes, at most ${bytesMax} are handed over; page it with result`
  return new AppError('RESULT_TOO_LARGE', message, {
    tool: call.tool,
    bytes,
    handle: { run, call: call.id },
  })
}

function refuseUnkept({ tool }: Resolving, bytes: number): void {
  if (bytes <= limits.blobBytesMax) return
  const message = `Cannot record the result of "${tool}": it has ${bytes} bytes, at most ${limits.blobBytesMax} are kept; ask the tool for less`
  throw new AppError('RESULT_TOO_LARGE', message, { tool, bytes })
}

/**
 * An error is read whole wherever a run is read: what a tool says at length stands beside it, to be
 * paged with result.
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

export function resultOfProgram(end: ProgramEnd): Result {
  return end.ok ? { ok: true, value: JSON.parse(end.value) as Json } : { ok: false, error: fromErrorData(end.error) }
}
