/** What a step of a session does, by calls alone: writes a file, runs a script, uses tools. */
import type { Message, Step, ToolCall } from '#agent/models'
import {
  bounded,
  type Draft,
  forbiddenTarget,
  type Ran,
  type Reading,
  reboundFeedback,
  streamsOf,
  toolFeedback,
  toolOutput,
} from '#agent/protocol'
import { type Delivery, type ErrorData, type IssuedCall, type JsonObject, limits, toAppError, toText } from '#model'
import { callOf } from './native-tools.ts'
import { type Answer, Mistake, type Outcome, SessionEnd, type SessionState, type Written } from './session-state.ts'

/** Yields a call and goes on with its result. */
export type Calling<T> = Generator<IssuedCall, T, Result>

/** `call` is the number by which the record, and the verb `result`, know it. */
type Result = ({ ok: true; value: JsonObject } | { ok: false; error: ErrorData }) & { call: string; now: number }

/** A script, with the digest of the bytes that may run; null where none are on the record. */
type Target = { path: string; sha256: string | null }

/** How a script came to its end, as `workspace:run` answers. */
type RunAnswer = Ran & { forbidden?: string }

export function resultOf({ call, ok, text, now }: Delivery): Result {
  const value = JSON.parse(text)
  return { ...(ok ? { ok, value } : { ok, error: value as ErrorData }), call: String(call), now }
}

/** A file that cannot be written is a mistake of the model. */
export function* write(state: SessionState, draft: Draft, tool = 'workspace:write'): Calling<Written> {
  const result = yield { tool, args: toText(draft) }
  if (!result.ok) throw endsAll(result.error) ? new SessionEnd(result.error) : new Mistake(result.error.message)
  const { path, sha256, bytes } = result.value as Written
  const file = { path, sha256, bytes }
  state.wrote(file)
  return file
}

export function* runTarget(
  state: SessionState,
  { target, prompt, thought }: Extract<Reading, { kind: 'script' }>,
): Calling<Outcome> {
  const forbidden = forbiddenTarget(target)
  if (forbidden !== null) throw state.forbidden(target, forbidden)
  // Without a digest it is looked at and not run: a link in its place is forbidden all the same.
  const file = state.fileAt(target) ?? { path: target, sha256: null }
  const { ran, call } = yield* run(file, limits.reboundScriptSeconds)
  if (ran.forbidden !== undefined) throw state.forbidden(target, ran.forbidden)
  const failure = ran.returncode === 0 ? null : `${ran.returncode} ${ran.stderr}`
  return { replies: [userMessage(reboundFeedback(prompt, ran, call))], thought, streams: streamsOf(ran, call), failure }
}

/** The script stands on disk before it runs, and its output beside it before the model is told. */
export function* runBlock(
  state: SessionState,
  { code, thought }: Extract<Reading, { kind: 'tool' }>,
  now: number,
): Calling<Outcome> {
  const script = `artifacts/step_${stampOf(now)}_tool_request/tool_script.py`
  const file = yield* write(state, { path: script, content: code, encoding: 'utf8' }, 'workspace:write_step')
  const { ran } = yield* run(file, limits.toolScriptSeconds)
  const output = toolOutput(ran)
  const path = file.path.replace(/tool_script\.py$/, 'tool_output.txt')
  yield* write(state, { path, content: output, encoding: 'utf8' }, 'workspace:write_step')
  const streams = [{ name: 'OUTPUT', text: output, place: `in ${path}` }]
  const failure = ran.returncode === 0 ? null : output
  return { replies: [userMessage(toolFeedback(output, path))], thought, streams, failure }
}

const userMessage = (text: string): Message => ({ role: 'user', text })

function* run({ path, sha256 }: Target, timeoutSeconds: number): Calling<{ ran: RunAnswer; call: string }> {
  const result = yield { tool: 'workspace:run', args: toText({ path, sha256, timeoutSeconds }) }
  const { call } = result
  if (result.ok) return { ran: result.value as RunAnswer, call }
  if (endsAll(result.error)) throw new SessionEnd(result.error)
  return { ran: { returncode: 'refused', stdout: '', stderr: result.error.message }, call }
}

/** One after the other; a failure where none of them succeeded. */
export function* useTools(answer: Answer): Calling<Outcome> {
  const replies: Message[] = []
  const streams: Step['streams'] = []
  let isFailure = true
  for (const asked of answer.toolCalls) {
    const { text, place, ok } = yield* useTool(answer, asked)
    replies.push({ role: 'tool', toolCallId: asked.id, text: bounded(text, place) })
    streams.push({ name: asked.name, text, place })
    if (ok) isFailure = false
  }
  const failure = isFailure ? streams.map(({ name, text }) => `${name} ${text}`).join('\n') : null
  return { replies, streams, thought: answer.text, failure }
}

type Used = { ok: boolean; text: string; place: string }

function* useTool(answer: Answer, asked: ToolCall): Calling<Used> {
  let call: IssuedCall
  try {
    call = callOf(asked)
  } catch (error) {
    const text = toText({ error: toAppError(error).toJSON() })
    return { ok: false, text, place: `about /toolCalls of call ${answer.call}` }
  }
  const result = yield call
  if (!result.ok && endsAll(result.error)) throw new SessionEnd(result.error)
  const text = toText(result.ok ? { value: result.value } : { error: result.error })
  return { ok: result.ok, text, place: `the value of call ${result.call}` }
}

/** Nothing that the model could say would help. */
function endsAll({ code }: ErrorData): boolean {
  return code === 'BUDGET_EXCEEDED' || code === 'CANCELLED' || code === 'STORE_FULL'
}

/** UTC, as the folder of a step is named. */
function stampOf(now: number): string {
  const [date, time] = new Date(now).toISOString().split(/[T.]/)
  return `${date!.replaceAll('-', '')}_${time!.replaceAll(':', '')}`
}
