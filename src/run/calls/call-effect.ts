/**
 * The effect class of one call. Of most tools it is the tool's; of a built-in one the arguments may
 * decide.
 */
import type { Effect, Json, Tool } from '#model'
import type { CallFacts } from './open-call.ts'

type EffectArguments = Pick<CallFacts, 'args' | 'edited' | 'refused'>

/** By the arguments that are sent: those of a human or a fork where there are any. */
export function effectOf(definition: Tool | null, { args, edited = args, refused }: EffectArguments): Effect | null {
  if (definition?.effectFor === undefined || refused !== undefined) return definition?.effect ?? null
  return definition.effectFor(JSON.parse(edited) as Json)
}

/**
 * A call of the record gets its tool as it is now. What was classed by its tool keeps the class it
 * was issued with.
 */
export function define(call: CallFacts, definition: Tool | null): void {
  call.definition = definition
  call.effect ??= effectOf(definition, call)
  classAgain(call)
}

/** Other arguments may make another class of the call. */
export function edit(call: CallFacts, args: string): void {
  call.edited = args
  classAgain(call)
}

function classAgain(call: CallFacts): void {
  const { definition, edited } = call
  if (edited !== undefined && definition?.effectFor !== undefined) call.effect = effectOf(definition, call)
}
