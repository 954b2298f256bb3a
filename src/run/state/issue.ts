/** A call as a program issues it, before anything was decided about it. */
import { type IssuedCall, keyParameter, type RunId, type Tool } from '#model'
import { effectOf, idempotencyKey, newFacts, type OpenCall, withoutCode } from '#run/calls'
import type { Journal } from '#run/record'
import { editOf } from '#run/start'

type Run = { chain: { run: RunId }; journal: Pick<Journal, 'started'> }

/** A keyed call gets its key here, once: every try of it carries the same. */
export function openCall(
  issued: IssuedCall,
  { id, now, definition }: { id: string; now: number; definition: Tool | null },
  { chain, journal }: Run,
): OpenCall {
  const edit = editOf(journal.started, id)
  const effect = effectOf(definition, { ...issued, ...edit })
  const key = effect !== null && keyParameter(effect) !== null ? { key: idempotencyKey(chain.run, id) } : {}
  return {
    ...withoutCode(issued),
    ...key,
    ...edit,
    ...newFacts(id, now),
    definition,
    effect,
    state: { name: 'issued' },
  }
}
