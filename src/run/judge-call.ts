/**
 * What may become of a call now: refused, asked about, answered without being made, or sent. Every
 * send is judged.
 */
import type { AppError } from '#model'
import type { Secrets } from '#record'
import type { RunPolicy } from '#run/policy'
import { denied } from './approval.ts'
import type { Spent } from './budget-spent.ts'
import type { CallContext } from './call-context.ts'
import type { MockedResult } from './mocks.ts'
import { type OpenCall, policyVerdict, reasonToAsk, refusalOf } from './open-call.ts'

type Judgement =
  | { kind: 'send' }
  | { kind: 'ask'; because: string }
  | { kind: 'refuse'; error: AppError }
  | { kind: 'pretend'; pretended: MockedResult }

type Judging = Pick<CallContext, 'budget' | 'catalog' | 'secrets' | 'policy' | 'pretend'>

/** Of a call that nobody has decided about yet. */
export function judge(call: OpenCall, desk: Judging, spent: Spent): Judgement {
  const refusal = refusalOf(call, desk, spent)
  if (refusal !== null) return { kind: 'refuse', error: refusal }
  const verdict = policyVerdict(call, desk.policy)
  if (verdict.action === 'deny') return { kind: 'refuse', error: denied(call, verdict) }
  const pretended = desk.pretend?.(call)
  if (pretended !== undefined) return { kind: 'pretend', pretended }
  if (verdict.action === 'ask') return { kind: 'ask', because: verdict.because }
  const doubt = reasonToAsk(call, desk.secrets)
  return doubt === null ? { kind: 'send' } : { kind: 'ask', because: doubt }
}

/**
 * Asked as the request is about to leave, since the policy may not be what it was when the call was
 * decided about: the file may have changed before the run was resumed, a standing rule may have
 * been taken back while the call waited. A human's yes to these arguments answers whatever asks,
 * and beats nothing that denies.
 */
export function mayBeSent(call: OpenCall, { policy, secrets }: { policy: RunPolicy; secrets: Secrets }): boolean {
  const { action } = policyVerdict(call, policy)
  if (action === 'deny') return false
  return call.isApproved || (action === 'allow' && reasonToAsk(call, secrets) === null)
}
