/** What may become of a call now: refused, asked about, answered without being made, or sent. Every send is judged. */
import type { AppError } from '#model'
import type { Secrets } from '#record'
import { doubtOf, type OpenCall, refusalOf, verdictOn } from './call.ts'
import type { Desk } from './desk.ts'
import { denied } from './human.ts'
import type { Pretended } from './mocks.ts'
import type { Spent } from './spent.ts'
import type { RunPolicy } from './standing.ts'

export type Judgement =
  | { then: 'send' }
  | { then: 'ask'; because: string }
  | { then: 'refuse'; error: AppError }
  | { then: 'pretend'; pretended: Pretended }

type Judging = Pick<Desk, 'budget' | 'catalog' | 'secrets' | 'policy' | 'pretend'>

/** Of a call that nobody has decided about yet. */
export function judge(call: OpenCall, desk: Judging, spent: Spent): Judgement {
  const refusal = refusalOf(call, desk, spent)
  if (refusal !== null) return { then: 'refuse', error: refusal }
  const verdict = verdictOn(call, desk.policy)
  if (verdict.then === 'deny') return { then: 'refuse', error: denied(call, verdict) }
  const pretended = desk.pretend?.(call)
  if (pretended !== undefined) return { then: 'pretend', pretended }
  if (verdict.then === 'ask') return { then: 'ask', because: verdict.because }
  const doubt = doubtOf(call, desk.secrets)
  return doubt === null ? { then: 'send' } : { then: 'ask', because: doubt }
}

/**
 * Asked as the request is about to leave, since the policy may not be what it was when the call was decided about: the
 * file may have changed before the run was resumed, a standing rule may have been taken back while the call waited. A
 * human's yes to these arguments answers whatever asks, and beats nothing that denies.
 */
export function mayBeSent(call: OpenCall, { policy, secrets }: { policy: RunPolicy; secrets: Secrets }): boolean {
  const { then } = verdictOn(call, policy)
  if (then === 'deny') return false
  return call.isApproved || (then === 'allow' && doubtOf(call, secrets) === null)
}
