/**
 * A value with every string in it changed, keys too: made a slice at a time, and what does not
 * change is not copied.
 */
import { isObject, type Json, type JsonObject } from '#model'

export type Mapping = {
  /** Goes on for about so long; true when all is done. */
  step(ms: number): boolean
  value(): Json
}

/**
 * A list or an object that is being walked through; `edits` are its members that differ, by their
 * place.
 */
type Frame = { of: Json[] | JsonObject; keys: string[] | null; at: number; edits: Map<number, [string, Json]> | null }

/** So many members between two looks at the clock. */
const membersBetween = 512

export function mapStrings(value: Json, change: (text: string) => string): Mapping {
  const frames: Frame[] = []
  let result = value

  function enter(member: Json): void {
    if (typeof member === 'string') return leave(change(member))
    if (Array.isArray(member)) frames.push({ of: member, keys: null, at: 0, edits: null })
    else if (isObject(member)) frames.push({ of: member as JsonObject, keys: Object.keys(member), at: 0, edits: null })
    else leave(member)
  }

  /** A member is done: its list or object goes on with the next. */
  function leave(member: Json): void {
    const frame = frames.at(-1)
    if (frame === undefined) {
      result = member
      return
    }
    const { keys, at } = frame
    const key = keys === null ? '' : change(keys[at]!)
    if (member !== memberOf(frame) || (keys !== null && key !== keys[at])) {
      frame.edits ??= new Map()
      frame.edits.set(at, [key, member])
    }
    frame.at += 1
  }

  function advance(): void {
    const frame = frames.at(-1)!
    const length = (frame.keys ?? (frame.of as Json[])).length
    if (frame.at < length) return enter(memberOf(frame))
    frames.pop()
    leave(edited(frame))
  }

  let isBegun = false
  return {
    step(ms) {
      const until = performance.now() + ms
      if (!isBegun) enter(value)
      isBegun = true
      for (let members = 1; frames.length > 0; members++) {
        advance()
        if (members % membersBetween === 0 && performance.now() >= until) break
      }
      return frames.length === 0
    },
    value: () => result,
  }
}

function memberOf({ of, keys, at }: Frame): Json {
  return keys === null ? (of as Json[])[at]! : (of as JsonObject)[keys[at]!]!
}

function edited({ of, keys, edits }: Frame): Json {
  if (edits === null) return of
  if (keys === null) return (of as Json[]).map((member, at) => edits.get(at)?.[1] ?? member)
  return Object.fromEntries(keys.map((key, at) => edits.get(at) ?? [key, (of as JsonObject)[key]!]))
}
