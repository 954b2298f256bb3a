/**
 * The open calls of one run, from one state to the next (the picture stands above OpenCall). Each
 * step is on the record before it has effect: a method appends what happened, and returns what
 * follows from it. It makes no callbacks.
 */
import { AppError, type EventBodies, type IssuedCall, isReadOnly, type ProgramEnd, type Tool, toText } from '#model'
import {
  type CallContext,
  type Conclusion,
  define,
  denial,
  dueOf,
  edit,
  expired,
  type FollowUp,
  type Hidden,
  isAnswered,
  isAsking,
  isNested,
  issuedBody,
  isTimer,
  judge,
  mayBeSent,
  mayResend,
  needsNoApproval,
  type OpenCall,
  type Outcome,
  progressReporter,
  question,
  type Result,
  redactTyped,
  reopened,
  resolvedBody,
  resultOfProgram,
  settledResult,
  stopWaiting,
  type Target,
  targetOf,
  withdrawal,
} from '#run/calls'
import { delivery, parseCallId, type RecordedCall, type Spent, spend } from '#run/record'

import { openCall } from './issue.ts'

const answeredHere = { outcome: 'answered', by: 'engine' } as const

export class Calls {
  readonly open = new Map<string, OpenCall>()
  readonly #context: CallContext
  readonly #spent: Spent
  readonly #reportProgress: (tool: string) => void

  /** What a run that is resumed has used up before counts. */
  constructor(context: CallContext) {
    this.#context = context
    this.#spent = { ...context.journal.spent }
    this.#reportProgress = progressReporter(context)
  }

  /** True when only humans can move what is open. */
  get onlyHumans(): boolean {
    const names = new Set([...this.open.values()].map(({ state }) => state.name))
    return !names.has('sending') && !names.has('waiting') && (names.has('asking') || names.has('uncertain'))
  }

  /** A program issued it. */
  issue(issued: IssuedCall, known: { id: string; now: number; definition: Tool | null }): FollowUp[] {
    const call = openCall(issued, known, this.#context)
    this.open.set(call.id, call)
    this.#spent.calls += 1
    this.#context.chain.append('call.issued', issuedBody(call))
    if (isNested(issued)) return this.#nest(call, 0)
    return isTimer(call) ? this.#startTimer(call) : this.#route(call)
  }

  /** A call of the record that has no result yet goes on from where it stood. */
  reopen(recorded: RecordedCall, issued: IssuedCall, { now, definition }: { now: number; definition: Tool | null }) {
    const call = reopened(recorded, issued, now)
    this.open.set(call.id, call)
    if (isNested(issued)) return this.#nest(call, this.#context.journal.spent.wallMs - recorded.ownedMs)
    if (isTimer(call)) return this.#startTimer(call)
    define(call, definition)
    if (recorded.last === 'sent') return this.#resend(call, recorded)
    if (recorded.asked === undefined) return this.#route(call)
    return recorded.answered === undefined ? this.#await(call, recorded.asked) : this.#apply(call, recorded.answered)
  }

  /** A run that will not go on keeps only what is in doubt: that, a human has to settle first. */
  abandon(recorded: RecordedCall): FollowUp[] {
    const call = reopened(recorded, recorded, this.#context.now())
    this.open.set(call.id, call)
    const isDoubtful = recorded.last === 'sent' && !mayResend(recorded, this.#context.now())
    return isDoubtful ? this.#doubt(call) : this.cancel(call, 'the run is over')
  }

  /** The time has come that it was waiting for; that of a program is its run's to end. */
  due(call: OpenCall): FollowUp[] {
    if (isAsking(call)) return this.#expire(call.id, call.state.approval)
    return call.state.name === 'waiting' ? this.#resolve(call, answeredHere, { ok: true, value: null }) : []
  }

  /** The program that runs as a call is over. */
  nestedEnd(id: string, end: ProgramEnd): FollowUp[] {
    const call = this.open.get(id)
    if (call?.state.name !== 'nested') return []
    return this.#resolve(call, { ...answeredHere, ms: this.#context.now() - call.issuedAt }, resultOfProgram(end))
  }

  /** A human, a rule or time answered; an answer to another question is none. */
  answer(given: EventBodies['approval.answered']): FollowUp[] {
    const call = [...this.open.values()].filter(isAsking).find(({ state }) => state.approval.id === given.approval)
    if (call === undefined || given.digest !== call.state.approval.digest) return []
    const body = redactTyped(given, call, this.#context.secrets)
    this.#context.chain.append('approval.answered', body)
    if (body.args !== undefined) edit(call, toText(body.args))
    if (body.rule === undefined) return this.#apply(call, given)
    this.#context.policy.write({ rule: body.rule, approval: body.approval })
    return [...this.#apply(call, given), ...this.#answerAlike(body)]
  }

  /** A human said what became of a call in doubt. */
  settle(body: EventBodies['call.settled']): FollowUp[] {
    const call = this.open.get(body.call)
    if (call?.state.name !== 'uncertain' || (body.attempt ?? call.attempt) !== call.attempt) return []
    const settled = redactTyped(body, call, this.#context.secrets)
    this.#context.chain.append('call.settled', settled)
    if (settled.how !== 'again')
      return this.#resolve(call, { outcome: 'settled', by: 'human' }, settledResult(call, settled))
    call.isApproved = true
    return mayBeSent(call, this.#context) ? this.#sendUnlessRefused(call) : []
  }

  /** Its tries are over, after so many milliseconds. */
  tried(call: OpenCall, outcome: Outcome, ms: number): FollowUp[] {
    const isStateLost = 'error' in outcome && outcome.error.code === 'UPSTREAM_STATE_LOST'
    const lost: FollowUp[] = isStateLost ? [{ kind: 'stop', error: outcome.error }] : []
    return [...lost, ...this.#concluded(call, outcome, ms)]
  }

  /**
   * Ends calls that are not needed any more, of all programs or below one; `everything` when the
   * run stops.
   */
  withdraw(program: string, everything: boolean, why: string): FollowUp[] {
    const calls = [...this.open.values()].filter(({ id }) => program === '' || id.startsWith(`${program}.`))
    return calls.flatMap((call) => {
      const step = withdrawal(call, everything)
      if (step === 'stop trying') stopWaiting(call)
      return step === 'cancel' ? this.cancel(call, why) : []
    })
  }

  cancel(call: OpenCall, why: string): FollowUp[] {
    stopWaiting(call)
    const error = new AppError('CANCELLED', `Cannot finish the call of "${call.tool}": ${why}`, { tool: call.tool })
    return this.#resolve(call, { outcome: 'cancelled', by: 'engine' }, { ok: false, error })
  }

  /**
   * A program inside has the time of its task while the run is owned and could move; `usedMs` were
   * used before.
   */
  #nest(call: OpenCall, usedMs: number): FollowUp[] {
    const timer = new AbortController()
    call.state = { name: 'nested', timer }
    const { timeoutMs } = call
    if (timeoutMs === undefined) return []
    return [{ kind: 'wake', call, due: this.#context.now() + timeoutMs - usedMs, signal: timer.signal }]
  }

  #startTimer(call: OpenCall): FollowUp[] {
    const timer = new AbortController()
    call.state = { name: 'waiting', timer }
    const due = this.#context.mocked === null ? dueOf(call, this.#context.now()) : call.issuedAt
    return [{ kind: 'wake', call, due, signal: timer.signal }]
  }

  #route(call: OpenCall): FollowUp[] {
    const judged = judge(call, this.#context, this.#spent)
    switch (judged.kind) {
      case 'send':
        return this.#send(call, judged.target)
      case 'ask':
        return this.#ask(call, judged.because)
      case 'refuse':
        return this.#refuse(call, judged.error)
      case 'mocked':
        return this.#resolve(call, { outcome: 'answered', by: judged.mocked.by }, judged.mocked.result)
    }
  }

  #send(call: OpenCall, target: Target): FollowUp[] {
    const state = { name: 'sending' as const, target, abort: new AbortController(), isCommitted: false }
    return [{ kind: 'send', call: Object.assign(call, { state }) }]
  }

  #ask(call: OpenCall, because: string): FollowUp[] {
    const asked = question(call, because, this.#context)
    this.#context.chain.append('approval.asked', asked)
    return [...this.#await(call, asked), { kind: 'ask' }]
  }

  #await(call: OpenCall, { approval: id, digest, expiresAt }: EventBodies['approval.asked']): FollowUp[] {
    const timer = new AbortController()
    call.state = { name: 'asking', approval: { id, digest }, timer }
    const due = Date.parse(expiresAt)
    if (due <= this.#context.now()) return this.#expire(call.id, call.state.approval)
    return [{ kind: 'wake', call, due, signal: timer.signal }]
  }

  /** An answer that was given in time, and is not read yet, comes first. */
  #expire(call: string, { id: approval, digest }: { id: string; digest: string }): FollowUp[] {
    return isAnswered(approval, this.#context.chain) ? [] : this.answer(expired({ approval, call, digest }))
  }

  /** A rule that a human wrote answers the other questions that it is about. */
  #answerAlike({ rule, who, from }: EventBodies['approval.answered']): FollowUp[] {
    const reason = `by ${toText(rule)}`
    return [...this.open.values()].flatMap((call) => {
      if (!isAsking(call) || !needsNoApproval(call, this.#context)) return []
      const { id: approval, digest } = call.state.approval
      return this.answer({ approval, call: call.id, digest, answer: 'approved', who, from, reason })
    })
  }

  #apply(call: OpenCall, answered: EventBodies['approval.answered']): FollowUp[] {
    stopWaiting(call)
    if (answered.answer !== 'approved') return this.#refuse(call, denial(call, answered))
    call.isApproved = true
    return mayBeSent(call, this.#context) ? this.#sendUnlessRefused(call) : this.#hold(call)
  }

  #sendUnlessRefused(call: OpenCall): FollowUp[] {
    const target = targetOf(call, this.#context, this.#spent)
    return target instanceof AppError ? this.#refuse(call, target) : this.#send(call, target)
  }

  /** The record says that it was sent, and no more. */
  #resend(call: OpenCall, recorded: RecordedCall): FollowUp[] {
    const { definition, effect } = call
    const isKnown = definition !== null && effect !== null
    if (!isKnown || !mayResend(recorded, this.#context.now())) return this.#doubt(call)
    return mayBeSent(call, this.#context) ? this.#send(call, { definition, effect }) : this.#hold(call)
  }

  /**
   * Policy does not let it out any more. What an earlier try may have done, a human has to find
   * out; a read did nothing.
   */
  #hold(call: OpenCall): FollowUp[] {
    const didNothing = !call.isInDoubt || (call.effect !== null && isReadOnly(call.effect))
    return didNothing ? this.#route(call) : this.#doubt(call)
  }

  #doubt(call: OpenCall): FollowUp[] {
    call.isInDoubt = true
    call.state = { name: 'uncertain' }
    return []
  }

  #concluded(call: OpenCall, outcome: Outcome, ms: number): FollowUp[] {
    switch (outcome.outcome) {
      case 'answered':
        return this.#resolve(call, { outcome: 'answered', by: 'upstream', ms }, outcome)
      case 'not_sent':
        return this.#resolve(call, { outcome: 'not_sent', by: 'engine', ms }, { ok: false, error: outcome.error })
      case 'given_up':
        return this.#resolve(call, { outcome: 'cancelled', by: 'engine', ms }, { ok: false, error: outcome.error })
      case 'in_doubt':
        return this.#doubt(call)
      case 'held':
        return this.#hold(call)
      case 'ended':
        return this.cancel(call, 'the run is over')
    }
  }

  #refuse(call: OpenCall, error: AppError): FollowUp[] {
    return this.#resolve(call, { outcome: 'refused', by: 'engine' }, { ok: false, error })
  }

  /**
   * A result takes its place in the record when it arrives; from there the program gets the same
   * bytes.
   */
  #resolve(call: OpenCall, how: Conclusion, result: Result | Hidden): FollowUp[] {
    if ('timer' in call.state) call.state.timer.abort()
    this.open.delete(call.id)
    const { body, bytes } = resolvedBody(call, how, result, this.#context)
    spend(this.#spent, bytes, result.usage)
    const { at } = this.#context.chain.append('call.resolved', body)
    this.#reportProgress(call.tool)
    return [{ kind: 'deliver', program: parseCallId(call.id).program, delivery: delivery(body, at) }]
  }
}
