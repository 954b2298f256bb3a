/** A call as a program issues it, before anything was decided about it. */
import type { IssuedCall, RunId, Tool } from '#model'
import { fresh, type OpenCall, withoutCode } from './call.ts'
import { effectOf } from './call-effect.ts'
import { editOf } from './fork.ts'
import { keyOf } from './idempotency-key.ts'
import type { Journal } from './journal.ts'

type Run = { chain: { run: RunId }; journal: Pick<Journal, 'started'> }

/** A keyed call gets its key here, once: every try of it carries the same. */
export function openCall(
  issued: IssuedCall,
  { id, now, definition }: { id: string; now: number; definition: Tool | null },
  { chain, journal }: Run,
): OpenCall {
  const edit = editOf(journal.started, id)
  const effect = effectOf(definition, { ...issued, ...edit })
  const key = effect?.startsWith('keyed:') ? { key: keyOf(chain.run, id) } : {}
  return { ...withoutCode(issued), ...key, ...edit, ...fresh(id, now), definition, effect }
}
