/** The open calls of one run: issued, decided, tried, asked about and resolved, each step on the record before it has effect. */
import { AppError, type EventBodies, type IssuedCall, type ProgramEnd, toText } from '#model'
import {
  doubtOf,
  dueOf,
  endResult,
  fresh,
  type Hidden,
  isOurs,
  issuedBody,
  isTimer,
  type OpenCall,
  passes,
  type Result,
  refusalOf,
  reopened,
  repeats,
  resultMember,
  verdictOn,
  withoutCode,
} from './call.ts'
import type { Desk } from './desk.ts'
import { Flight } from './flight.ts'
import { editOf } from './fork.ts'
import { denial, denied, expired, isAnswered, question, settledResult, withoutSecrets } from './human.ts'
import { keyOf } from './idempotency-key.ts'
import { delivery, type RecordedCall } from './journal.ts'
import { placeOf } from './place.ts'
import { type Spent, spend } from './spent.ts'
import { tellerOf } from './tell.ts'
import { type Outcome, triesOf, tryUntilKnown } from './tries.ts'

type Resolved = EventBodies['call.resolved']

export class Calls {
  readonly #desk: Desk
  readonly open = new Map<string, OpenCall>()
  readonly #flight = new Flight()
  readonly #spent: Spent
  readonly #tell: (tool: string) => void
  #closed = false
  #isLanding = false

  /** `spent` is what a run that is resumed has used up before. */
  constructor(desk: Desk, spent: Spent) {
    this.#desk = desk
    this.#spent = { ...spent }
    this.#tell = tellerOf(desk)
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

  /** As close(), but what was sent and may not be repeated has a moment to be answered, for the record alone. */
  async land(): Promise<void> {
    this.#isLanding = true
    await this.#flight.landed(this.#desk.pause)
    this.#isLanding = false
    this.close()
  }

  async issue(issued: IssuedCall, id: string, now: number): Promise<void> {
    const { catalog, chain, journal } = this.#desk
    const definition = isOurs(issued.tool) ? null : ((await catalog.tool(issued.tool)) ?? null)
    if (this.#closed || this.#desk.isStopped()) return
    const effect = definition?.effect ?? null
    const key = effect?.startsWith('keyed:') ? { key: keyOf(chain.run, id) } : {}
    const edited = editOf(journal.started, id)
    const call: OpenCall = { ...withoutCode(issued), ...key, ...edited, ...fresh(id, now), definition, effect }
    this.open.set(id, call)
    this.#spent.calls += 1
    chain.append('call.issued', issuedBody(call))
    if (issued.code !== undefined) this.#nest(call, 0)
    else if (isTimer(call)) this.#startTimer(call)
    else this.#route(call)
  }

  /** A call of the record that has no result yet goes on from where it stood. */
  async reopen(recorded: RecordedCall, issued: IssuedCall, now: number): Promise<void> {
    if (this.#closed) return
    const call = reopened(recorded, issued, now)
    this.open.set(call.id, call)
    if (issued.code !== undefined) this.#nest(call, this.#desk.journal.spent.wallMs - recorded.ownedMs)
    else if (isTimer(call)) this.#startTimer(call)
    else {
      call.definition = (await this.#desk.catalog.tool(call.tool)) ?? null
      if (this.#closed) return
      if (this.#desk.isStopped()) this.#abandon(call, recorded)
      else if (recorded.last === 'sent') this.#repeat(call, recorded)
      else if (recorded.asked === undefined) this.#route(call)
      else if (recorded.answered === undefined) this.#await(call, recorded.asked)
      else this.#apply(call, recorded.answered)
    }
  }

  /** A program inside has the time of its task while the run is owned and could move; `usedMs` were used before. */
  #nest(call: OpenCall, usedMs: number): void {
    call.state = 'nested'
    const { timeoutMs: ms, id } = call
    if (ms !== undefined) this.#later(call, this.#desk.now() + ms - usedMs, () => this.#desk.late(id, ms))
  }

  /** The program that runs as a call is over. */
  nestedEnd(id: string, end: ProgramEnd): void {
    const call = this.open.get(id)
    if (call?.state !== 'nested') return
    this.#resolve(call, 'answered', endResult(end), 'engine', this.#desk.now() - call.issuedAt)
  }

  /** A run that will not go on keeps only what is in doubt: that, a human has to settle first. */
  giveUp(recorded: RecordedCall): void {
    if (recorded.last === 'resolved') return
    const call = reopened(recorded, recorded, this.#desk.now())
    this.open.set(call.id, call)
    this.#abandon(call, recorded)
  }

  #abandon(call: OpenCall, recorded: RecordedCall): void {
    if (recorded.last === 'sent' && !repeats(recorded, this.#desk.now())) call.state = 'uncertain'
    else this.#cancel(call, 'the run is over')
  }

  /** Ends what nobody needs any more: always timers and reads, and on a full stop also what was never sent. */
  cancelOpen(program: string, everything: boolean, why: string): void {
    const below = [...this.open.values()].filter(({ id }) => program === '' || id.startsWith(`${program}.`))
    for (const call of below) {
      const harmless = isOurs(call.tool) || call.effect === 'read' || call.effect === null
      const unsent = call.attempt === 0 || call.state === 'asking'
      if (call.state !== 'uncertain' && (harmless || (everything && unsent))) this.#cancel(call, why)
    }
  }

  answer(given: EventBodies['approval.answered']): void {
    const call = [...this.open.values()].find(({ approval }) => approval?.id === given.approval)
    if (call?.state !== 'asking' || given.digest !== call.approval!.digest) return
    const body = withoutSecrets(given, call, this.#desk.secrets)
    this.#desk.chain.append('approval.answered', body)
    if (body.args !== undefined) call.edited = toText(body.args)
    if (body.rule !== undefined) this.#desk.policy.write({ rule: body.rule, approval: body.approval })
    this.#apply(call, given)
    if (body.rule !== undefined) this.#answerAlike(body)
  }

  /** A line of policy answers the other questions that it is about. */
  #answerAlike({ rule, who, from }: EventBodies['approval.answered']): void {
    for (const call of [...this.open.values()]) {
      if (call.state !== 'asking' || !passes(call, this.#desk)) continue
      const { id: approval, digest } = call.approval!
      this.answer({ approval, call: call.id, digest, answer: 'approved', who, from, reason: `by ${toText(rule)}` })
    }
  }

  settle(body: EventBodies['call.settled']): void {
    const call = this.open.get(body.call)
    if (call?.state !== 'uncertain') return
    const told = withoutSecrets(body, call, this.#desk.secrets)
    this.#desk.chain.append('call.settled', told)
    call.state = 'moving'
    if (told.how === 'again') return this.#again(call)
    this.#resolve(call, 'settled', settledResult(call, told), 'human')
  }

  #again(call: OpenCall): void {
    const refusal = refusalOf(call, this.#desk, this.#spent)
    if (refusal !== null) this.#refuse(call, refusal)
    else this.#send(call)
  }

  #repeat(call: OpenCall, recorded: RecordedCall): void {
    if (call.definition !== null && repeats(recorded, this.#desk.now())) this.#send(call)
    else call.state = 'uncertain'
  }

  #route(call: OpenCall): void {
    const refusal = refusalOf(call, this.#desk, this.#spent)
    if (refusal !== null) return this.#refuse(call, refusal)
    const verdict = verdictOn(call, this.#desk.policy)
    const pretended = verdict.then === 'deny' ? undefined : this.#desk.pretend?.(call)
    if (pretended !== undefined) return this.#resolve(call, 'answered', pretended.result, pretended.by)
    const doubt = doubtOf(call, this.#desk.secrets)
    if (verdict.then === 'allow' && doubt !== null) return this.#ask(call, doubt)
    if (verdict.then === 'allow') return this.#send(call)
    if (verdict.then === 'ask') return this.#ask(call, verdict.because)
    this.#refuse(call, denied(call, verdict))
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
    const verdict = verdictOn(call, this.#desk.policy)
    if (verdict.then === 'deny') return this.#refuse(call, denied(call, verdict))
    this.#again(call)
  }

  #startTimer(call: OpenCall): void {
    const fire = () => this.#resolve(call, 'answered', { ok: true, value: null }, 'engine')
    this.#later(call, this.#desk.pretend === null ? dueOf(call, this.#desk.now()) : call.issuedAt, fire)
  }

  #later(call: OpenCall, due: number, step: () => void): void {
    const timer = new AbortController()
    call.timer = timer
    const over = this.#desk.pause(Math.max(0, due - this.#desk.now()), timer.signal)
    const wake = () => (this.#isOpen(call) && !timer.signal.aborted ? step() : undefined)
    over.then(() => this.#guard(wake)).catch(() => {})
  }

  #send(call: OpenCall): void {
    if (this.#desk.isStopped()) return this.#cancel(call, 'the run is over')
    if (this.#flight.enter(call)) this.#guard(() => this.#try(call))
  }

  async #try(call: OpenCall): Promise<void> {
    const began = this.#desk.now()
    const tries = triesOf(call, this.#desk, () => this.#isOpen(call))
    const outcome = await tryUntilKnown(call.effect!, tries)
    const isLanded = this.#isLanding && outcome?.outcome === 'answered' && this.open.has(call.id)
    if (outcome !== null && (isLanded || this.#isOpen(call))) this.#known(call, outcome, this.#desk.now() - began)
    else if (this.#isOpen(call)) this.#cancel(call, 'the run is over')
    const next = this.#flight.leave(call, this.#isOpen)
    if (next !== undefined) this.#send(next)
  }

  readonly #isOpen = (call: OpenCall): boolean => !this.#closed && this.open.has(call.id)

  #known(call: OpenCall, outcome: Outcome, ms: number): void {
    if ('error' in outcome && outcome.error.code === 'UPSTREAM_STATE_LOST') this.#desk.lost(outcome.error)
    switch (outcome.outcome) {
      case 'answered':
        return this.#resolve(call, 'answered', outcome, 'upstream', ms)
      case 'not_sent':
        return this.#resolve(call, 'not_sent', { ok: false, error: outcome.error }, 'engine', ms)
      case 'given_up':
        return this.#resolve(call, 'cancelled', { ok: false, error: outcome.error }, 'engine', ms)
      case 'in_doubt':
        call.state = 'uncertain'
        return this.#desk.rested()
    }
  }

  #refuse(call: OpenCall, error: AppError): void {
    this.#resolve(call, 'refused', { ok: false, error }, 'engine')
  }

  #cancel(call: OpenCall, why: string): void {
    call.abort.abort()
    const error = new AppError('CANCELLED', `Cannot finish the call of "${call.tool}": ${why}`, { tool: call.tool })
    this.#resolve(call, 'cancelled', { ok: false, error }, 'engine')
  }

  /** A result takes its place in the record when it arrives; from there the program gets the same bytes. */
  #resolve(call: OpenCall, outcome: Resolved['outcome'], result: Result | Hidden, by: Resolved['by'], ms = 0): void {
    call.timer?.abort()
    this.open.delete(call.id)
    const { bytes, ...member } = resultMember(call, result, this.#desk)
    spend(this.#spent, bytes, result.usage)
    const said = { call: call.id, attempt: call.attempt, outcome, ...member, ms: Math.round(ms) }
    const body: Resolved = { ...said, ...(result.usage && { usage: result.usage }), by }
    const { at } = this.#desk.chain.append('call.resolved', body)
    this.#tell(call.tool)
    this.#desk.resolved(placeOf(call.id).program, delivery(body, at))
  }

  #guard(step: () => void | Promise<void>): void {
    Promise.resolve()
      .then(() => (this.#closed ? undefined : step()))
      .catch(this.#desk.broken)
  }
}
