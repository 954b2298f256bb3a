/** What is asked of a human about a call, and what their answer means for it. */
import {
  AppError,
  type ApprovalId,
  type EventBodies,
  type Json,
  newId,
  RawJson,
  sha256,
  splitToolId,
  toText,
} from '#model'
import type { Chain, Secrets } from '#record'
import type { Verdict } from '#run/policy'
import { deadlineOf } from '#run/record'
import type { CallContext } from './call-context.ts'
import type { Hidden, Result } from './call-result.ts'
import type { CallFacts } from './open-call.ts'

type Asking = Pick<CallContext, 'originsOf' | 'now' | 'budget' | 'journal' | 'policy'>

/** Bound to the digest of the exact arguments: an answer to other arguments is no answer. */
export function question(
  call: CallFacts,
  why: string,
  { originsOf, now, budget, journal, policy }: Asking,
): EventBodies['approval.asked'] {
  const from = call.edited === undefined ? originsOf(call) : []
  const latest = Math.min(now() + policy.expireMs, deadlineOf(budget, journal.startedAt))
  return {
    approval: newId<ApprovalId>(now()),
    call: call.id,
    digest: sha256(call.edited ?? call.args),
    why,
    ...(from.length === 0 ? {} : { from }),
    expiresAt: new Date(latest).toISOString(),
  }
}

export function denial(call: CallFacts, { answer, who, reason }: EventBodies['approval.answered']): AppError {
  if (answer === 'expired') {
    return new AppError('APPROVAL_EXPIRED', `Cannot call "${call.tool}": nobody answered in time`, { tool: call.tool })
  }
  const said = reason === undefined ? '' : `: ${reason}`
  return new AppError('APPROVAL_DENIED', `Cannot call "${call.tool}": ${who} said no${said}`, { tool: call.tool })
}

/** The answer that expiry gives where there was no other. */
export function expired({
  approval,
  call,
  digest,
}: Pick<EventBodies['approval.asked'], 'approval' | 'call' | 'digest'>): EventBodies['approval.answered'] {
  return { approval, call, digest, answer: 'expired', who: 'time', from: 'engine' }
}

/** An answer that was given in time holds, however late the run is taken up again. */
export function isAnswered(approval: string, { inbox }: Pick<Chain, 'inbox'>): boolean {
  return inbox().some(({ type, body }) => type === 'approval.answered' && body.approval === approval)
}

/** Refused by a line of policy or by the permission set. */
export function denied({ tool }: CallFacts, { because }: Verdict): AppError {
  return new AppError('PERMISSION_DENIED', `Cannot call "${tool}": denied by ${because}`, { tool, because })
}

/** What became of a call in doubt, as a human who knows has said it, without its secrets. */
export function settledResult(call: CallFacts, { how, value, text }: EventBodies['call.settled']): Result | Hidden {
  if (how === 'done') return { ok: true, value: new RawJson(toText(value ?? null)) }
  return { ok: false, error: new AppError('TOOL_ERROR', text ?? 'It failed, as a human said', { tool: call.tool }) }
}

type Typed = EventBodies['approval.answered'] | EventBodies['call.settled']

/**
 * What a human typed may hold secrets too: they stand in the record as every other, and go to the
 * server they were meant for.
 */
export function redactTyped<Body extends Typed>(body: Body, { tool }: CallFacts, secrets: Secrets): Body {
  const server = splitToolId(tool)?.server ?? 'metier'
  const hidden = (typed: unknown) => secrets.hide(secrets.reveal(typed as Json, server).value, server)
  const typed = Object.entries(body).filter(([name]) => ['args', 'value', 'text', 'reason'].includes(name))
  return { ...body, ...Object.fromEntries(typed.map(([name, value]) => [name, hidden(value)])) }
}
