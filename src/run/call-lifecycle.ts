/**
 * The open calls of one run: issued, decided, tried, asked about and resolved, each step on the
 * record before it has effect.
 */
import { AppError, type EventBodies, type IssuedCall, isReadOnly, type ProgramEnd, toText } from '#model'

import { denial, expired, isAnswered, question, redactTyped, settledResult } from './approval.ts'
import { type Spent, spend } from './budget-spent.ts'
import type { CallContext } from './call-context.ts'
import { definitionOf, isNested } from './call-definition.ts'
import { define, edit } from './call-effect.ts'
import { parseCallId } from './call-id.ts'
import { isTimer } from './engine-tools.ts'
import { InFlight } from './in-flight.ts'
import { openCall } from './issue.ts'
import { delivery, type RecordedCall } from './journal.ts'
import { judge, mayBeSent } from './judge-call.ts'
import {
  dueOf,
  type Hidden,
  issuedBody,
  mayResend,
  needsNoApproval,
  type OpenCall,
  type Result,
  refusalOf,
  reopened,
  resultMember,
  resultOfProgram,
  withdrawal,
} from './open-call.ts'
import { progressReporter } from './report-progress.ts'
import { type Outcome, triesOf, tryUntilKnown } from './tries.ts'
import { wakeAt } from './wake.ts'

type Resolved = EventBodies['call.resolved']

export class Calls {
  readonly #desk: CallContext
  readonly open = new Map<string, OpenCall>()
  readonly #flight = new InFlight()
  readonly #spent: Spent
  readonly #tell: (tool: string) => void
  #closed = false
  #isLanding = false

  /** `spent` is what a run that is resumed has used up before. */
  constructor(desk: CallContext, spent: Spent) {
    this.#desk = desk
    this.#spent = { ...spent }
    this.#tell = progressReporter(desk)
  }

  /** True when only humans can move what is open. */
  get onlyHumans(): boolean {
    const states = [...this.open.values()].map(({ state }) => state)
    return !states.includes('moving') && (states.includes('asking') || states.includes('uncertain'))
  }

  /** Nothing is sent or resolved after this; what was sent stays in doubt. */
  close(): void {
    this.#closed = true
    if (this.#isLanding) return
    for (const call of this.open.values()) {
      call.timer?.abort()
      call.abort.abort()
    }
  }

  /** As close(), but what may not be repeated has a moment to be answered, for the record alone. */
  async drain(): Promise<void> {
    this.#isLanding = true
    await this.#flight.drained(this.#desk.pause)
    this.#isLanding = false
    this.close()
  }

  async issue(issued: IssuedCall, id: string, now: number): Promise<void> {
    const definition = await definitionOf(issued.tool, id, this.#desk)
    if (this.#closed || this.#desk.isStopped()) return
    const call = openCall(issued, { id, now, definition }, this.#desk)
    this.open.set(id, call)
    this.#spent.calls += 1
    this.#desk.chain.append('call.issued', issuedBody(call))
    if (isNested(issued)) this.#nest(call, 0)
    else if (isTimer(call)) this.#startTimer(call)
    else this.#route(call)
  }

  /** A call of the record that has no result yet goes on from where it stood. */
  async reopen(recorded: RecordedCall, issued: IssuedCall, now: number): Promise<void> {
    if (this.#closed) return
    const call = reopened(recorded, issued, now)
    this.open.set(call.id, call)
    if (isNested(issued)) this.#nest(call, this.#desk.journal.spent.wallMs - recorded.ownedMs)
    else if (isTimer(call)) this.#startTimer(call)
    else {
      define(call, await definitionOf(call.tool, call.id, this.#desk))
      if (this.#closed) return
      if (this.#desk.isStopped()) this.#abandon(call, recorded)
      else if (recorded.last === 'sent') this.#repeat(call, recorded)
      else if (recorded.asked === undefined) this.#route(call)
      else if (recorded.answered === undefined) this.#await(call, recorded.asked)
      else this.#apply(call, recorded.answered)
    }
  }

  /**
   * A program inside has the time of its task while the run is owned and could move; `usedMs` were
   * used before.
   */
  #nest(call: OpenCall, usedMs: number): void {
    call.state = 'nested'
    const { timeoutMs: ms, id } = call
    if (ms !== undefined) this.#later(call, this.#desk.now() + ms - usedMs, () => this.#desk.late(id, ms))
  }

  /** The program that runs as a call is over. */
  nestedEnd(id: string, end: ProgramEnd): void {
    const call = this.open.get(id)
    if (call?.state !== 'nested') return
    this.#resolve(call, 'answered', resultOfProgram(end), 'engine', this.#desk.now() - call.issuedAt)
  }

  /** A run that will not go on keeps only what is in doubt: that, a human has to settle first. */
  giveUp(recorded: RecordedCall): void {
    if (recorded.last === 'resolved') return
    const call = reopened(recorded, recorded, this.#desk.now())
    this.open.set(call.id, call)
    this.#abandon(call, recorded)
  }

  #abandon(call: OpenCall, recorded: RecordedCall): void {
    if (recorded.last === 'sent' && !mayResend(recorded, this.#desk.now())) call.state = 'uncertain'
    else this.#cancel(call, 'the run is over')
  }

  /** Ends what nobody needs any more; `everything` on a full stop of the run. */
  cancelOpen(program: string, everything: boolean, why: string): void {
    for (const call of [...this.open.values()].filter(({ id }) => program === '' || id.startsWith(`${program}.`))) {
      const step = withdrawal(call, everything)
      if (step === 'cancel') this.#cancel(call, why)
      if (step === 'stop trying') call.abort.abort()
    }
  }

  answer(given: EventBodies['approval.answered']): void {
    const call = [...this.open.values()].find(({ approval }) => approval?.id === given.approval)
    if (call?.state !== 'asking' || given.digest !== call.approval!.digest) return
    const body = redactTyped(given, call, this.#desk.secrets)
    this.#desk.chain.append('approval.answered', body)
    if (body.args !== undefined) edit(call, toText(body.args))
    if (body.rule !== undefined) this.#desk.policy.write({ rule: body.rule, approval: body.approval })
    this.#apply(call, given)
    if (body.rule !== undefined) this.#answerAlike(body)
  }

  /** A line of policy answers the other questions that it is about. */
  #answerAlike({ rule, who, from }: EventBodies['approval.answered']): void {
    for (const call of [...this.open.values()]) {
      if (call.state !== 'asking' || !needsNoApproval(call, this.#desk)) continue
      const { id: approval, digest } = call.approval!
      this.answer({ approval, call: call.id, digest, answer: 'approved', who, from, reason: `by ${toText(rule)}` })
    }
  }

  settle(body: EventBodies['call.settled']): void {
    const call = this.open.get(body.call)
    if (call?.state !== 'uncertain' || (body.attempt ?? call.attempt) !== call.attempt) return
    const told = redactTyped(body, call, this.#desk.secrets)
    this.#desk.chain.append('call.settled', told)
    if (told.how !== 'again') return this.#resolve(call, 'settled', settledResult(call, told), 'human')
    call.isApproved = true
    if (!mayBeSent(call, this.#desk)) return
    call.state = 'moving'
    this.#again(call)
  }

  #again(call: OpenCall): void {
    const refusal = refusalOf(call, this.#desk, this.#spent)
    if (refusal !== null) this.#refuse(call, refusal)
    else this.#send(call)
  }

  #repeat(call: OpenCall, recorded: RecordedCall): void {
    if (call.definition === null || !mayResend(recorded, this.#desk.now())) call.state = 'uncertain'
    else if (mayBeSent(call, this.#desk)) this.#send(call)
    else this.#hold(call)
  }

  /**
   * Policy does not let it out any more. What an earlier try may have done, a human has to find
   * out; a read did nothing.
   */
  #hold(call: OpenCall): void {
    if (call.isInDoubt && !(call.effect !== null && isReadOnly(call.effect))) this.#doubt(call)
    else this.#route(call)
  }

  #doubt(call: OpenCall): void {
    call.isInDoubt = true
    call.state = 'uncertain'
    this.#desk.rested()
  }

  #route(call: OpenCall): void {
    const judged = judge(call, this.#desk, this.#spent)
    switch (judged.kind) {
      case 'send':
        return this.#send(call)
      case 'ask':
        return this.#ask(call, judged.because)
      case 'refuse':
        return this.#refuse(call, judged.error)
      case 'pretend':
        return this.#resolve(call, 'answered', judged.pretended.result, judged.pretended.by)
    }
  }

  #ask(call: OpenCall, because: string): void {
    const asked = question(call, because, this.#desk)
    this.#desk.chain.append('approval.asked', asked)
    this.#await(call, asked)
    this.#desk.asked()
    this.#desk.rested()
  }

  #await(call: OpenCall, asked: EventBodies['approval.asked']): void {
    const expiresAt = Date.parse(asked.expiresAt)
    call.state = 'asking'
    call.approval = { id: asked.approval, digest: asked.digest, expiresAt }
    const expire = () => isAnswered(asked.approval, this.#desk.chain) || this.answer(expired(asked))
    if (expiresAt <= this.#desk.now()) expire()
    else this.#later(call, expiresAt, expire)
  }

  #apply(call: OpenCall, answered: EventBodies['approval.answered']): void {
    call.timer?.abort()
    call.state = 'moving'
    if (answered.answer !== 'approved') return this.#refuse(call, denial(call, answered))
    call.isApproved = true
    return mayBeSent(call, this.#desk) ? this.#again(call) : this.#hold(call)
  }

  #startTimer(call: OpenCall): void {
    const due = this.#desk.pretend === null ? dueOf(call, this.#desk.now()) : call.issuedAt
    this.#later(call, due, () => this.#resolve(call, 'answered', { ok: true, value: null }, 'engine'))
  }

  #later(call: OpenCall, due: number, step: () => void): void {
    const isDue = () => this.#isOpen(call) && !call.timer!.signal.aborted
    wakeAt(due, call, this.#desk, () => this.#guard(() => void (isDue() && step())))
  }

  #send(call: OpenCall): void {
    if (this.#desk.isStopped()) return this.#cancel(call, 'the run is over')
    if (this.#flight.enter(call)) this.#guard(() => this.#try(call))
  }

  async #try(call: OpenCall): Promise<void> {
    const began = this.#desk.now()
    const tries = triesOf(call, this.#desk, () => this.#isOpen(call))
    const outcome = await tryUntilKnown(call.effect!, tries)
    const isLanded = this.#isLanding && outcome.outcome === 'answered' && this.open.has(call.id)
    const next = this.#flight.leave(call, this.#isOpen)
    if (isLanded || this.#isOpen(call)) this.#known(call, outcome, this.#desk.now() - began)
    if (next !== undefined) this.#send(next)
  }

  readonly #isOpen = (call: OpenCall): boolean => !this.#closed && this.open.has(call.id)

  #known(call: OpenCall, outcome: Outcome, ms: number): void {
    if ('error' in outcome && outcome.error.code === 'UPSTREAM_STATE_LOST') this.#desk.lost(outcome.error)
    if (outcome.outcome === 'held') return this.#hold(call)
    if (outcome.outcome === 'ended') return this.#cancel(call, 'the run is over')
    if (outcome.outcome === 'in_doubt') return this.#doubt(call)
    if (outcome.outcome === 'answered') return this.#resolve(call, 'answered', outcome, 'upstream', ms)
    const as = outcome.outcome === 'given_up' ? 'cancelled' : outcome.outcome
    this.#resolve(call, as, { ok: false, error: outcome.error }, 'engine', ms)
  }

  #refuse(call: OpenCall, error: AppError): void {
    this.#resolve(call, 'refused', { ok: false, error }, 'engine')
  }

  #cancel(call: OpenCall, why: string): void {
    call.abort.abort()
    const error = new AppError('CANCELLED', `Cannot finish the call of "${call.tool}": ${why}`, { tool: call.tool })
    this.#resolve(call, 'cancelled', { ok: false, error }, 'engine')
  }

  /**
   * A result takes its place in the record when it arrives; from there the program gets the same
   * bytes.
   */
  #resolve(call: OpenCall, outcome: Resolved['outcome'], result: Result | Hidden, by: Resolved['by'], ms = 0): void {
    call.timer?.abort()
    this.open.delete(call.id)
    const { bytes, ...member } = resultMember(call, result, this.#desk)
    spend(this.#spent, bytes, result.usage)
    const said = { call: call.id, attempt: call.attempt, outcome, ...member, ms: Math.max(0, Math.round(ms)) }
    const body: Resolved = { ...said, ...(result.usage && { usage: result.usage }), by }
    const { at } = this.#desk.chain.append('call.resolved', body)
    this.#tell(call.tool)
    this.#desk.resolved(parseCallId(call.id).program, delivery(body, at))
  }

  #guard(step: () => void | Promise<void>): void {
    Promise.resolve()
      .then(() => (this.#closed ? undefined : step()))
      .catch(this.#desk.broken)
  }
}
