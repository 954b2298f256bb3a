/** Takes secrets out of what a server said. */
import { AppError, isObject, type Json, type Try } from '#model'
import { redactKnown } from '#record'

export function hide<Value>(value: Value, secrets: readonly string[]): Value {
  return (secrets.length === 0 ? value : hidden(value, secrets)) as Value
}

function hidden(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redactKnown(value, secrets)
  if (Array.isArray(value)) return value.map((item) => hidden(item, secrets))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [hidden(key, secrets), hidden(member, secrets)]),
  )
}

export function hideInTry(outcome: Try, secrets: readonly string[]): Try {
  if (secrets.length === 0) return outcome
  if (outcome.outcome === 'answered') return hideInAnswer(outcome, secrets)
  return { ...outcome, error: hideInError(outcome.error, secrets) }
}

function hideInAnswer(outcome: Try & { outcome: 'answered' }, secrets: readonly string[]): Try {
  const answer = outcome.answer === undefined ? {} : { answer: hide(outcome.answer, secrets) }
  if (outcome.ok) return { ...outcome, ...answer, value: hide<Json>(outcome.value, secrets) }
  return { ...outcome, ...answer, error: hideInError(outcome.error, secrets) }
}

function hideInError({ code, message, context, cause }: AppError, secrets: readonly string[]): AppError {
  return new AppError(code, hide(message, secrets), hide(context, secrets), cause)
}
