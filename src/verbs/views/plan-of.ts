/** A plan as it was recorded. */
import type { Plan } from '#model'
import type { RecordedPlan } from '#run'

/** A plan from its place in the record, with the digest of the program that it became. */
export function planOf(recorded: unknown): RecordedPlan {
  const { kind, source, digest } = recorded as { kind: Plan['kind']; source: unknown; digest: string }
  const member = { code: 'code', dag: 'tasks', agent: 'agent' }[kind]
  return { plan: { kind, [member]: source } as Plan, digest }
}
