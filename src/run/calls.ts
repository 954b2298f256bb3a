/** The open calls of one run: issued, decided, tried, asked about and resolved, each step on the record before it has effect. */
import type { Catalog } from '#catalog'
import {
  AppError,
  type ApprovalId,
  type Delivery,
  type EventBodies,
  type IssuedCall,
  type Json,
  limits,
  newId,
  type PermissionSet,
  type PolicyRule,
  timerTool,
  toText,
} from '#model'
import type { Chain, Secrets } from '#record'
import {
  argumentsOf,
  digestOf,
  fresh,
  issuedBody,
  keyOf,
  leakOf,
  type OpenCall,
  type Result,
  refusalOf,
  reopened,
  resultMember,
} from './call.ts'
import { delivery, type RecordedCall } from './journal.ts'
import { decide } from './policy.ts'
import { type Outcome, triesOf, tryUntilKnown } from './tries.ts'

export type Desk = {
  chain: Chain
  catalog: Catalog
  secrets: Secrets
  policy: { permissions: PermissionSet; rules: readonly PolicyRule[] }
  budget: EventBodies['run.started']['budget']
  now: () => number
  /** A result took its place in the record. */
  resolved: (delivery: Delivery) => void
  /** A call came to rest without a result. */
  rested: () => void
  /** The record refused an append: nothing more may happen. */
  broken: (error: unknown) => void
}

type Resolved = EventBodies['call.resolved']

export class Calls {
  readonly #desk: Desk
  readonly #open = new Map<number, OpenCall>()
  #moving = 0
  #bytes = 0
  #closed = false
  readonly #queue: OpenCall[] = []

  constructor(desk: Desk) {
    this.#desk = desk
  }

  get open(): ReadonlyMap<number, OpenCall> {
    return this.#open
  }

  /** True when only humans can move what is open. */
  get onlyHumans(): boolean {
    return this.#open.size > 0 && [...this.#open.values()].every((call) => call.state !== 'moving')
  }

  /** Nothing is sent or resolved after this; what was sent stays in doubt. */
  close(): void {
    this.#closed = true
    for (const call of this.#open.values()) {
      clearTimeout(call.timer)
      call.abort.abort()
    }
  }

  async issue(issued: IssuedCall, number: number, now: number): Promise<void> {
    const { catalog, chain } = this.#desk
    const definition = issued.tool === timerTool ? null : ((await catalog.tool(issued.tool)) ?? null)
    if (this.#closed) return
    const effect = definition?.effect ?? null
    const key = effect?.startsWith('keyed:') ? { key: keyOf(chain.run, number) } : {}
    const call: OpenCall = { ...issued, ...key, ...fresh(number, now), definition, effect }
    this.#open.set(number, call)
    chain.append('call.issued', issuedBody(call))
    if (call.tool === timerTool) this.#startTimer(call)
    else this.#route(call)
  }

  /** A call of the record that has no result yet goes on from where it stood. */
  async reopen(recorded: RecordedCall, now: number): Promise<void> {
    const { asked, answered } = recorded
    const call = reopened(recorded, now)
    this.#open.set(call.number, call)
    if (call.tool === timerTool) return this.#startTimer(call)
    call.definition = (await this.#desk.catalog.tool(call.tool)) ?? null
    if (recorded.last === 'sent') {
      if (call.definition !== null && this.#repeats(recorded)) this.#send(call)
      else call.state = 'uncertain'
    } else if (asked === undefined) this.#route(call)
    else if (answered === undefined) this.#await(call, asked)
    else this.#apply(call, answered)
  }

  /** A run that will not go on keeps only what is in doubt: that, a human has to settle first. */
  giveUp(recorded: RecordedCall): void {
    if (recorded.last === 'resolved') return
    const call = reopened(recorded, this.#desk.now())
    this.#open.set(call.number, call)
    if (recorded.last === 'sent' && !this.#repeats(recorded)) call.state = 'uncertain'
    else this.#cancel(call, 'the run is over')
  }

  /** Ends what nobody needs any more: always timers and reads, and on a full stop also what was never sent. */
  cancelOpen(everything: boolean, why: string): void {
    for (const call of [...this.#open.values()]) {
      const harmless = call.tool === timerTool || call.effect === 'read' || call.effect === null
      const unsent = call.attempt === 0 || call.state === 'asking'
      if (call.state !== 'uncertain' && (harmless || (everything && unsent))) this.#cancel(call, why)
    }
  }

  answer(body: EventBodies['approval.answered']): void {
    const call = [...this.#open.values()].find(({ approval }) => approval?.id === body.approval)
    if (call?.state !== 'asking' || body.digest !== call.approval!.digest) return
    this.#desk.chain.append('approval.answered', body)
    if (body.args !== undefined) call.edited = toText(body.args)
    this.#apply(call, body)
  }

  settle(body: EventBodies['call.settled']): void {
    const call = this.#open.get(Number(body.call))
    if (call?.state !== 'uncertain') return
    this.#desk.chain.append('call.settled', body)
    call.state = 'moving'
    if (body.how === 'again') return this.#again(call)
    const failed = () => new AppError('TOOL_ERROR', body.text ?? 'A human said that it failed', { tool: call.tool })
    const result: Result =
      body.how === 'done' ? { ok: true, value: (body.value ?? null) as Json } : { ok: false, error: failed() }
    this.#resolve(call, 'settled', result, 'human')
  }

  #again(call: OpenCall): void {
    const refusal = refusalOf(call, this.#desk, this.#bytes)
    if (refusal !== null) this.#refuse(call, refusal)
    else this.#send(call)
  }

  #repeats({ effect, sentAt }: RecordedCall): boolean {
    if (effect === null || effect === 'unsafe') return false
    return !effect.startsWith('keyed:') || this.#desk.now() - (sentAt ?? 0) < limits.keyMsMax
  }

  #route(call: OpenCall): void {
    const refusal = refusalOf(call, this.#desk, this.#bytes)
    if (refusal !== null) return this.#refuse(call, refusal)
    const { permissions, rules } = this.#desk.policy
    const verdict = decide({ tool: call.tool, effect: call.effect!, args: argumentsOf(call) }, permissions, rules)
    const leak = leakOf(call, this.#desk.secrets)
    if (verdict.then === 'allow' && leak !== null) return this.#ask(call, leak)
    if (verdict.then === 'allow') return this.#send(call)
    if (verdict.then === 'ask') return this.#ask(call, verdict.because)
    const message = `Cannot call "${call.tool}": denied by ${verdict.because}`
    this.#refuse(call, new AppError('PERMISSION_DENIED', message, { tool: call.tool, because: verdict.because }))
  }

  #ask(call: OpenCall, because: string): void {
    const asked = {
      approval: newId<ApprovalId>(this.#desk.now()),
      call: String(call.number),
      digest: digestOf(call.args),
      why: because,
      expiresAt: new Date(this.#desk.now() + limits.approvalMsDefault).toISOString(),
    }
    this.#desk.chain.append('approval.asked', asked)
    this.#await(call, asked)
    this.#desk.rested()
  }

  #await(call: OpenCall, asked: EventBodies['approval.asked']): void {
    const expiresAt = Date.parse(asked.expiresAt)
    call.state = 'asking'
    call.approval = { id: asked.approval, digest: asked.digest, expiresAt }
    const expire = () => {
      const { approval, digest } = asked
      this.answer({ approval, call: asked.call, digest, answer: 'expired', who: 'time', from: 'engine' })
    }
    call.timer = setTimeout(() => this.#guard(expire), Math.max(0, expiresAt - this.#desk.now()))
  }

  #apply(call: OpenCall, { answer, who, reason }: EventBodies['approval.answered']): void {
    clearTimeout(call.timer)
    call.state = 'moving'
    if (answer !== 'approved') {
      const code = answer === 'denied' ? 'APPROVAL_DENIED' : 'APPROVAL_EXPIRED'
      const said =
        answer === 'denied' ? `${who} said no${reason === undefined ? '' : `: ${reason}`}` : 'nobody answered in time'
      return this.#refuse(call, new AppError(code, `Cannot call "${call.tool}": ${said}`, { tool: call.tool }))
    }
    this.#again(call)
  }

  #startTimer(call: OpenCall): void {
    const { ms = 0 } = JSON.parse(call.args) as { ms?: number }
    const due = call.issuedAt + Math.min(Math.max(0, ms), limits.timerMsMax)
    const fire = () => this.#resolve(call, 'answered', { ok: true, value: null }, 'engine')
    call.timer = setTimeout(() => this.#guard(fire), Math.max(0, due - this.#desk.now()))
  }

  #send(call: OpenCall): void {
    if (this.#moving >= limits.callsInFlightMax) {
      this.#queue.push(call)
      return
    }
    this.#moving += 1
    this.#guard(async () => {
      const began = this.#desk.now()
      const outcome = await tryUntilKnown(
        call.effect!,
        triesOf(call, this.#desk, () => this.#isOpen(call)),
      ).finally(() => {
        this.#moving -= 1
      })
      if (outcome !== null && this.#isOpen(call)) this.#known(call, outcome, this.#desk.now() - began)
      const next = this.#queue.shift()
      if (next !== undefined && this.#isOpen(next)) this.#send(next)
    })
  }

  #isOpen(call: OpenCall): boolean {
    return !this.#closed && this.#open.has(call.number)
  }

  #known(call: OpenCall, outcome: Outcome, ms: number): void {
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
  #resolve(call: OpenCall, outcome: Resolved['outcome'], result: Result, by: Resolved['by'], ms = 0): void {
    clearTimeout(call.timer)
    this.#open.delete(call.number)
    const { bytes, ...member } = resultMember(call, result, this.#desk)
    this.#bytes += bytes
    const body: Resolved = {
      call: String(call.number),
      attempt: call.attempt,
      outcome,
      ...member,
      ms: Math.round(ms),
      by,
    }
    const { at } = this.#desk.chain.append('call.resolved', body)
    this.#desk.resolved(delivery(body, at))
  }

  #guard(step: () => void | Promise<void>): void {
    Promise.resolve()
      .then(() => (this.#closed ? undefined : step()))
      .catch(this.#desk.broken)
  }
}
