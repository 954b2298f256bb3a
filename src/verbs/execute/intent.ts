/**
 * An intent alone: what was learned is suggested, or runs where that is sure enough. Then it is a
 * request like any other, on the record, judged by policy call by call.
 */
import type { Catalog } from '#catalog'
import type { Asker } from '#learn'
import { isObject, type Json, type JsonObject, type PermissionSet } from '#model'
import type { AskedPlan } from '#run'
import type { ExecuteAnswer } from '#verbs/views'
import { type SuggestParts, suggest } from './suggest.ts'

type Request = { intent?: string | null; args: Json; permissions?: PermissionSet }

/** What is to be asked for in place of the intent alone. */
type Speculated = { plan: AskedPlan; args: JsonObject; permissions: PermissionSet; speculated: number }

export async function answerIntent(
  parts: SuggestParts & { minConfidence: number | null },
  { intent, args, permissions }: Request,
  caller: { subject?: string },
): Promise<{ answer: ExecuteAnswer } | { request: Speculated }> {
  const asker = askerOf(parts.catalog, caller)
  const given = isObject(args) ? args : {}
  const found = await suggest(parts, { intent: intent!, args: given, asker, minConfidence: parts.minConfidence })
  if ('tasks' in found) return { answer: { status: 'suggested', suggestion: found } }
  // An intent was asked for, not these calls: also under `privileged`, unsafe ones need an
  // approval.
  const narrowed = permissions === undefined || permissions === 'privileged' ? 'standard' : permissions
  const plan = { kind: 'capability', id: found.id } as const
  return { request: { plan, args: found.args, permissions: narrowed, speculated: found.capability.confidence } }
}

/** Who asks, for what was learned. */
export const askerOf = (catalog: Catalog, { subject }: { subject?: string }): Asker => ({
  subject: subject ?? null,
  servers: new Set(Object.keys(catalog.digests())),
})
