/**
 * A line of policy that is written with an answer: what it says, and what it will do, shown to the
 * person who answers.
 */
import type { Config, Effect, EventBodies, PermissionSet, PolicyRule } from '#model'
import { type LineEffect, type LineScope, lineEffect, lineFor, narrower } from '#run'
import type { Decision } from '#verbs/input'
import type { Approval, CallView, RunView } from '#verbs/views'

/** `permissions` is the set in force for the call that was asked about. */
type WrittenLine = LineEffect & { rule: PolicyRule; scope: LineScope; permissions: PermissionSet }

/** Null where the answer writes none. */
export function writtenRule(
  { answer, scope = 'once', covers }: Decision,
  { started }: RunView,
  { tool, effect }: CallView,
  { why }: EventBodies['approval.asked'],
  policy: Config['policy'],
): WrittenLine | null {
  if (scope === 'once' || answer === 'denied') return null
  const permissions = narrower(started.permissions, policy.permissions)
  const asked = { tool, effect: (effect ?? 'unsafe') as Effect, why, covers }
  return { rule: lineFor(tool, covers), scope, permissions, ...lineEffect(asked, scope, permissions, policy.rules) }
}

/** For an open question, before it is answered. */
export function effectsOfRules(
  { tool, effect, why }: Approval,
  started: PermissionSet,
  { permissions, rules }: Config['policy'],
): { run: string; always: string } {
  const asked = { tool, effect: (effect ?? 'unsafe') as Effect, why }
  const says = (scope: LineScope) => lineEffect(asked, scope, narrower(started, permissions), rules).says
  return { run: says('run'), always: says('always') }
}
