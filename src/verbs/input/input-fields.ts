/**
 * Reads what an agent or a person sent: every field is checked, and a wrong one is named with what
 * would be right.
 */
import { AppError, isObject, isWithinDepth, type Json, type JsonObject, limits } from '#model'

export function invalid(param: string, details: string, value?: unknown, allowed?: readonly unknown[]): AppError {
  return new AppError('INVALID_INPUT_PARAM', `Cannot read "${param}": ${details}`, {
    param,
    details,
    ...(value === undefined ? {} : { value }),
    ...(allowed === undefined ? {} : { allowed_values: allowed }),
  })
}

export function missing(param: string, hint: string): AppError {
  return new AppError('MISSING_REQUIRED_PARAM', `Cannot go on without "${param}": ${hint}`, { param })
}

/** An unknown field is a mistake: what it was to narrow would not be narrowed. */
export function objectOf(param: string, value: unknown, known?: readonly string[]): JsonObject {
  refuseDeep(param, value)
  if (!isObject(value)) throw invalid(param, 'it must be an object', value)
  const unread = Object.keys(value).find((name) => value[name] !== undefined && !(known ?? [name]).includes(name))
  if (unread === undefined) return value as JsonObject
  const shown = unread.slice(0, limits.clientNameCharactersMax)
  throw invalid(param, `there is no field "${shown}"; there are ${known!.join(', ')}`, undefined, known)
}

/**
 * Checked before anything else is: who shows a value or walks through it has only so much stack.
 */
export function refuseDeep(param: string, value: unknown): void {
  const { programDepthMax } = limits
  if (!isWithinDepth(value, programDepthMax))
    throw invalid(param, `it is nested more deeply than ${programDepthMax} levels`)
}

export function textOf(param: string, value: unknown, bytesMax: number = limits.intentBytesMax): string {
  if (typeof value !== 'string') throw invalid(param, 'it must be a text', value)
  if (Buffer.byteLength(value) > bytesMax) throw invalid(param, `it must have at most ${bytesMax} bytes`)
  return value
}

export function numberOf(param: string, value: unknown, [least, most]: readonly [number, number]): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  throw invalid(param, `it must be a whole number from ${least} to ${most}`, value)
}

export function oneOf<T extends string | boolean>(param: string, value: unknown, allowed: readonly T[]): T {
  if (allowed.includes(value as T)) return value as T
  throw invalid(param, `it must be one of ${allowed.join(', ')}`, value, allowed)
}

/** `read` for a field that is there, `otherwise` for one that is not. */
export function optional<T>(value: Json | undefined, read: (value: Json) => T, otherwise: T): T {
  return value === undefined || value === null ? otherwise : read(value)
}
