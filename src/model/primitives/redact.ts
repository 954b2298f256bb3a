/** Redaction: what stands in place of a secret, and how it gets into every string of a value. */
import { isObject } from './json.ts'

/** In place of a secret that is not needed again. One that is has a placeholder of its run. */
export const redactedSecret = '«secret»'

/** A copy of the value with every string changed, keys too. */
export function redactStrings<Value>(value: Value, redact: (text: string) => string): Value {
  return redacted(value, redact) as Value
}

function redacted(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((item) => redacted(item, redact))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [redact(key), redacted(member, redact)]))
}
