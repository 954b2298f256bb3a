/**
 * Answers as an agent reads them: large arguments as a preview with a handle, and errors with the
 * run that they are about.
 */
import { type AppError, errorAnswer, isObject, type Json, type JsonObject, limits, RunError, toAppError } from '#model'
import { argumentsHandle } from '#verbs'

/**
 * The arguments of approvals and of calls in doubt stand in the answer as long as they have at most
 * 8 KB together; the others are shown as a result is that is too large: its start, its size, and
 * what to give to `result`. A form for a human shows them whole.
 */
export function agentAnswer(answer: JsonObject): JsonObject {
  let left: number = limits.inlineResultBytesMax
  const bounded = (item: Json): Json => {
    if (!isObject(item) || !('args' in item)) return item
    const { args, ...rest } = item
    const text = JSON.stringify(args)
    const bytes = Buffer.byteLength(text)
    left -= bytes
    if (left >= 0) return item
    left += bytes
    const handle = argumentsHandle(String(answer.run), String(item.call))
    return { ...rest, preview: text.slice(0, limits.previewCharactersMax), bytes, handle }
  }
  const { approvals, calls } = answer
  return {
    ...answer,
    ...(Array.isArray(approvals) && { approvals: approvals.map(bounded) }),
    ...(Array.isArray(calls) && { calls: calls.map(bounded) }),
  }
}

/** `run` has begun for the request that failed; null where none has. */
export function errorAboutRun(thrown: unknown, run: string | null): AppError {
  return run === null || thrown instanceof RunError ? toAppError(thrown) : new RunError(run, null, thrown)
}

/** An error as plain JSON; a context that cannot be said as JSON is left out. */
export function errorJson(error: AppError): JsonObject {
  try {
    return JSON.parse(JSON.stringify(errorAnswer(error)))
  } catch {
    const { code, message, fate } = error
    const { error: _, ...about } = errorAnswer(error)
    return { ...about, error: { code, message, context: {}, fate } }
  }
}

/** One line for a host that knows only text. */
export function errorText(message: string, run: unknown): string {
  return typeof run !== 'string' || message.includes(run) ? message : `${message} (run ${run})`
}
