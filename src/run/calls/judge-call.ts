/**
 * What may become of a call now: refused, asked about, answered without being made, or sent. Every
 * send is judged.
 */
import type { Catalog } from '#catalog'
import { AppError, type Budget, fromErrorData, type Json, splitToolId } from '#model'
import type { Secrets } from '#record'
import { dangerOf, decide, type RunPolicy, type Verdict } from '#run/policy'
import { overspent, type Spent } from '#run/record'
import { denied } from './approval.ts'
import type { CallContext } from './call-context.ts'
import { leakOf, lostSecret } from './call-secrets.ts'
import type { MockedResult } from './mocks.ts'
import { argumentsOf, argumentsToSend, type CallFacts, type Target } from './open-call.ts'

type Judgement =
  | { kind: 'send'; target: Target }
  | { kind: 'ask'; because: string }
  | { kind: 'refuse'; error: AppError }
  | { kind: 'mocked'; mocked: MockedResult }

type Judging = Pick<CallContext, 'budget' | 'catalog' | 'secrets' | 'policy' | 'mocked'>

/** Of a call that has no decision yet. */
export function judge(call: CallFacts, context: Judging, spent: Spent): Judgement {
  const args = argumentsOf(call)
  const target = targetOf(call, context, spent, args)
  if (target instanceof AppError) return { kind: 'refuse', error: target }
  const verdict = policyVerdict(call, context.policy, args)
  if (verdict.action === 'deny') return { kind: 'refuse', error: denied(call, verdict) }
  const mocked = context.mocked?.(call)
  if (mocked !== undefined) return { kind: 'mocked', mocked }
  if (verdict.action === 'ask') return { kind: 'ask', because: verdict.because }
  const because = reasonToAsk(call, context.secrets, args)
  return because === null ? { kind: 'send', target } : { kind: 'ask', because }
}

/** `secrets` where the call is really made. */
type Refusing = { budget: Budget; catalog: Pick<Catalog, 'near' | 'problemOf' | 'problemOfServer'>; secrets?: Secrets }

/** What the call is sent to; or why it is not made at all, whatever the policy says. */
export function targetOf(
  call: CallFacts,
  { budget, catalog, secrets }: Refusing,
  spent: Spent,
  args = argumentsOf(call),
): Target | AppError {
  const over = notExpressible(call) ?? overspent(call.tool, budget, spent)
  if (over !== null) return over
  const { definition, effect } = call
  if (definition === null || effect === null) return notFound(call, catalog)
  const problem = catalog.problemOf(definition, argumentsToSend(call, args)) ?? lostSecret(call.tool, args, secrets)
  return problem ?? { definition, effect }
}

function notFound({ tool }: CallFacts, catalog: Refusing['catalog']): AppError {
  const unreachable = catalog.problemOfServer(tool)
  if (unreachable !== null) return unreachable
  const near = catalog.near(tool)
  const form = splitToolId(tool) === null ? 'a tool is named server:name' : 'discover finds what there is'
  const hint = near.length === 0 ? form : `did you mean ${near.join(' or ')}?`
  const message = `Cannot call "${tool}": there is no such tool; ${hint}`
  return new AppError('TOOL_NOT_FOUND', message, { tool, ...(near.length > 0 && { near }) })
}

/** What the program could not say as JSON is refused as it said why. */
function notExpressible({ tool, refused: details, refusal }: CallFacts): AppError | null {
  if (refusal !== undefined) return fromErrorData(refusal)
  if (details === undefined) return null
  return new AppError('INVALID_INPUT_PARAM', `Cannot call "${tool}": ${details}`, { param: 'args', details })
}

type Policy = Omit<RunPolicy, 'write'>

/**
 * No rule can be about a call of no class: it is not made. A rule that allows was written for calls
 * that an agent asks for; in a run begun for an intent alone none was asked for, so what
 * the standard set would ask about asks there, whatever the rules allow.
 */
export function policyVerdict(
  call: CallFacts,
  { permissions, rules, isSpeculated }: Policy,
  args = argumentsOf(call),
): Verdict {
  const { tool, effect, definition } = call
  if (effect === null) return { action: 'deny', because: 'there is no such tool' }
  const danger = definition === null ? null : dangerOf(definition)
  const question = { tool, effect, danger, args }
  const verdict = decide(question, permissions, rules)
  const isUnasked = isSpeculated && verdict.action !== 'deny' && decide(question, 'standard', []).action === 'ask'
  return isUnasked ? { action: 'ask', because: unasked } : verdict
}

const unasked = 'an intent alone led to this call, and nobody asked for it'

/** Why a human is asked even though the policy allows the call. */
function reasonToAsk(call: CallFacts, secrets: Secrets, args: Json): string | null {
  return leakOf(call.tool, args, secrets) ?? (call.ask ? 'the task says that it has side effects' : null)
}

/** Whether a call needs no approval. */
export function needsNoApproval(call: CallFacts, { policy, secrets }: { policy: Policy; secrets: Secrets }): boolean {
  const args = argumentsOf(call)
  return policyVerdict(call, policy, args).action === 'allow' && reasonToAsk(call, secrets, args) === null
}

/**
 * Asked as the request is about to leave, since the policy may not be what it was when the call was
 * decided about: the file may have changed before the run was resumed, a standing rule may have
 * been taken back while the call waited. A human's yes to these arguments answers whatever asks,
 * and beats nothing that denies.
 */
export function mayBeSent(call: CallFacts, { policy, secrets }: { policy: Policy; secrets: Secrets }): boolean {
  if (!call.isApproved) return needsNoApproval(call, { policy, secrets })
  return policyVerdict(call, policy).action !== 'deny'
}
