/** JSON Pointer (RFC 6901): a place in a JSON value as text, `/items/0/a~1b`. */
import { isObject } from './json.ts'

/** A key as it stands between two slashes. */
export function escapePointerKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** `~1` before `~0`, so that `~01` is the key `~1`. */
export function unescapePointerKey(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** The pointer that names these keys, from the outside in. */
export function pointerOf(keys: readonly string[]): string {
  return keys.map((key) => `/${escapePointerKey(key)}`).join('')
}

/** The keys of a pointer, from the outside in; null where the text is no pointer. */
export function pointerKeys(pointer: string): string[] | null {
  if (pointer === '') return []
  if (!pointer.startsWith('/')) return null
  const parts = pointer.slice(1).split('/')
  return pointer.includes('~') ? parts.map(unescapePointerKey) : parts
}

/** The value at a pointer; undefined where there is none. */
export function atPointer(value: unknown, pointer: string): unknown {
  const keys = pointerKeys(pointer)
  if (keys === null) return undefined
  let here = value
  for (const key of keys) {
    if (Array.isArray(here)) here = /^(0|[1-9]\d*)$/.test(key) ? here[Number(key)] : undefined
    else if (isObject(here) && Object.hasOwn(here, key)) here = here[key]
    else return undefined
  }
  return here
}
