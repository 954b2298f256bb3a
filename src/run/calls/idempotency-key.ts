/**
 * The idempotency key of a keyed call. A server that takes one makes a request at most once for
 * each key, which is what allows a try with an unknown outcome to be repeated; a request without a
 * key would simply be made again.
 */
import { isObject, type Json, type RunId, sha256 } from '#model'

/** The same run and call always give the same key, so that a server can tell a repetition. */
export function idempotencyKey(run: RunId, id: string): string {
  return sha256(`${run} ${id}`).slice(0, 32)
}

/**
 * The arguments with a key in them. The program's own key stays, unless it is empty: servers treat
 * an empty key as none. Arguments that are no object are refused before they are sent, and stay as
 * they are.
 */
export function withKey(args: Json, parameter: string, key: string): Json {
  if (!isObject(args)) return args
  const own = Object.hasOwn(args, parameter) ? (args[parameter] as Json) : null
  return isEmptyKey(own) ? { ...(args as { [name: string]: Json }), [parameter]: key } : args
}

/**
 * Nothing in it that could tell one request from another: no visible character, no number but zero,
 * at any depth.
 */
export function isEmptyKey(value: Json): boolean {
  if (typeof value === 'string') return invisible.test(value)
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isEmptyKey)
  return !value
}

/**
 * White space, control and format characters, and what a font draws as nothing (fillers, the blank
 * of Braille).
 */
const invisible = /^[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u
