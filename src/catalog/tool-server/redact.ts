/** Takes secrets out of what a server said. */
import { AppError, type Json, redactStrings, type Try } from '#model'
import { loadSecrets } from '#record'

const { redactKnown } = await loadSecrets()

export function redact<Value>(value: Value, secrets: readonly string[]): Value {
  return secrets.length === 0 ? value : redactStrings(value, (text) => redactKnown(text, secrets))
}

export function redactTry(outcome: Try, secrets: readonly string[]): Try {
  if (secrets.length === 0) return outcome
  if (outcome.outcome === 'answered') return redactAnswer(outcome, secrets)
  return { ...outcome, error: redactError(outcome.error, secrets) }
}

function redactAnswer(outcome: Try & { outcome: 'answered' }, secrets: readonly string[]): Try {
  const answer = outcome.answer === undefined ? {} : { answer: redact(outcome.answer, secrets) }
  if (outcome.ok) return { ...outcome, ...answer, value: redact<Json>(outcome.value, secrets) }
  return { ...outcome, ...answer, error: redactError(outcome.error, secrets) }
}

function redactError({ code, message, context, cause }: AppError, secrets: readonly string[]): AppError {
  return new AppError(code, redact(message, secrets), redact(context, secrets), cause)
}
