/**
 * Judges arguments of which a part is still to come: only what is wrong whatever comes is a
 * problem.
 */

import type { OutputUnit } from '@cfworker/json-schema'
import type { AppError, Json, Tool } from '#model'
import { pointerOf } from '#model'
import { errorsOf, explain, partsOf, wrappers } from './validate.ts'

/** JSON Pointers to what is not known yet: it may become anything, or any text. */
type Unknowns = { anything: readonly string[]; texts: readonly string[] }

/**
 * What stands below them is told by them alone: their verdict may turn with what is still to come
 * there.
 */
const choices = new Set(['anyOf', 'oneOf', 'not', 'if', 'contains', 'dependencies', 'dependentSchemas'])

/** What an object or a list must be like whatever its members become. */
const outlines = new Set([
  'type',
  'required',
  'false',
  'dependentRequired',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
])

type Located = OutputUnit & { at: string }

/** Each problem once, in the order of the schema; of what a choice refuses, only the choice. */
export function definiteProblems(tool: Tool, args: Json, open: Unknowns): AppError[] {
  const errors: Located[] = errorsOf(tool, args).map((error) => ({ ...error, at: placeOf(error) }))
  const chosen = errors.filter(({ keyword }) => choices.has(keyword))
  const holes = [...open.anything, ...open.texts]
  const isInside = (error: Located) => chosen.some((choice) => choice !== error && within(error.at, choice.at))
  const certain = errors.filter((error) => {
    const { keyword, at } = error
    if (wrappers.has(keyword) || isInside(error)) return false
    // A parameter that does not exist is wrong whatever it becomes.
    if (open.anything.some((hole) => within(at, hole))) return keyword === 'false'
    if (open.texts.includes(at)) return keyword === 'type'
    return !hasBelow(holes, at) || outlines.has(keyword)
  })
  const explained = certain.map((error) => explain(tool, args, error))
  return [...new Map(explained.map((problem) => [problem.message, problem])).values()]
}

function placeOf({ instanceLocation }: OutputUnit): string {
  return pointerOf(partsOf(instanceLocation))
}

function within(at: string, above: string): boolean {
  return at === above || at.startsWith(`${above}/`)
}

function hasBelow(holes: readonly string[], at: string): boolean {
  return holes.some((hole) => within(hole, at))
}
