/**
 * Moves one run that this process owns: replays what the record holds, then turns in, calls out,
 * until it ends or waits.
 */
import { type AppError, type Delivery, type EventBodies, limits, type ProgramEnd, type Turn, toAppError } from '#model'
import type { CallContext, RunContext } from './call-context.ts'
import { hasCapabilities, isNested } from './call-definition.ts'
import { formatCallId, parseCallId } from './call-id.ts'
import { Calls } from './call-lifecycle.ts'
import { OutputRecorder } from './program-output.ts'
import { Replay } from './replay.ts'
import {
  cancelledBy,
  outcomeOf,
  programLate,
  type Settlement,
  type Stop,
  sandboxUnavailable,
  stalled,
} from './run-end.ts'
import { type ProgramState, RunPrograms } from './run-programs.ts'
import { timeLeft } from './time-left.ts'

export class Conductor {
  readonly settled: Promise<Settlement>
  /** Resolves with the first question to a human. */
  readonly asked: Promise<void>
  readonly #score: RunContext
  readonly #calls: Calls
  readonly #seats: RunPrograms
  readonly #replay: Replay
  readonly #notes: OutputRecorder
  readonly #settle: (settlement: Settlement) => void
  readonly #fail: (error: unknown) => void
  #tail: Promise<void> = Promise.resolve()
  #turns = 0
  #live = false
  #over = false
  #left: Promise<void> | undefined
  #stop: Stop | null = null
  #wall: NodeJS.Timeout | undefined
  #unsubscribe = () => {}

  constructor(score: RunContext) {
    const { journal } = score
    this.#score = score
    this.#replay = new Replay(journal)
    this.#notes = new OutputRecorder(score.chain, journal)
    this.#seats = new RunPrograms(score.program)
    const { budget, plan } = journal.started
    const question = Promise.withResolvers<void>()
    this.asked = question.promise
    const desk: CallContext = {
      ...score,
      budget,
      plan: plan.kind,
      isStopped: () => this.#stop !== null,
      resolved: (program, delivery) => this.#resolved(program, delivery),
      asked: question.resolve,
      rested: () => this.#rest(),
      late: (program, timeoutMs) => this.#died(this.#seats.get(program)!, programLate(timeoutMs)),
      lost: (error) => this.#differ(error),
      broken: (error) => this.#broken(error),
    }
    this.#calls = new Calls(desk, journal.spent)
    ;({ promise: this.settled, resolve: this.#settle, reject: this.#fail } = Promise.withResolvers<Settlement>())
    this.settled.catch(() => {})
  }

  /**
   * Nothing is sent before every recorded result was delivered and every recorded call was issued
   * again.
   */
  begin(): void {
    this.#rerun().catch((error) => this.#broken(error))
  }

  /** Asks the run to end; what was sent and cannot be taken back is awaited and recorded. */
  cancel(asked: EventBodies['cancel.asked']): void {
    if (this.#over || this.#stop !== null) return
    try {
      const told = this.#score.secrets.hide(asked, 'metier') as typeof asked
      this.#score.chain.append('cancel.asked', told)
      this.#halt(cancelledBy(told))
    } catch (error) {
      this.#broken(error)
    }
  }

  /**
   * Lets go of the run, so that another process can take it up; what was sent and is not answered
   * soon stays in doubt.
   */
  leave(error?: unknown): Promise<void> {
    this.#left ??= this.#over ? Promise.resolve() : this.#leave(error)
    return this.#left
  }

  async #leave(error: unknown): Promise<void> {
    const landed = error === undefined ? this.#calls.drain() : undefined
    this.#close()
    await landed
    await this.#score.chain.suspend({ why: 'stopped', calls: [...this.#calls.open.keys()] })
    if (error === undefined) this.#settle('interrupted')
    else this.#fail(error)
  }

  async #rerun(): Promise<void> {
    const { journal } = this.#score
    this.#take(this.#seats.root, this.#seats.root.program.start(), journal.beganAt)
    // Code with no other program in it is told everything at once, and its box plays it turn by
    // turn. Graphs and capabilities seat programs as they go.
    const isCode = journal.started.plan.kind === 'code' && !hasCapabilities(journal)
    for (const { program, delivery } of journal.deliveries) {
      if (!isCode) await this.#quiet()
      const seat = this.#seats.get(program)
      if (seat === undefined || this.#isDeaf(seat) || (!isCode && delivery.call > seat.issued)) continue
      this.#take(seat, seat.program.deliver(delivery), delivery.now)
    }
    await this.#quiet()
    if (this.#over) return
    this.#differ(this.#replay.missing((program) => this.#seats.issuedBy(program)))
    this.#startClock()
    await this.#goOn()
  }

  #startClock(): void {
    const { ms, stop } = timeLeft(this.#score.journal, this.#score.now())
    if (ms <= 0) this.#stop ??= stop()
    else if (ms <= limits.timeoutMsMax) this.#wall = setTimeout(() => this.#halt(stop()), ms)
  }

  /** After the replay: open calls move on, then what the last turns issued beyond the record. */
  async #goOn(): Promise<void> {
    const { calls, cancelled } = this.#score.journal
    this.#turns += 1
    this.#live = true
    if (cancelled !== null) this.#halt(cancelledBy(cancelled))
    if (this.#stop === null) {
      for (const { recorded, issue } of this.#replay.open) await this.#calls.reopen(recorded, issue.call, issue.now)
      for (const { call, id, now } of this.#replay.anew) await this.#calls.issue(call, id, now)
      for (const { path, end } of this.#seats.ended) this.#calls.nestedEnd(path, end)
    } else for (const recorded of calls.values()) this.#calls.giveUp(recorded)
    this.#turns -= 1
    if (this.#over) return
    this.#unsubscribe = this.#score.chain.onInbox(() => this.#readInbox())
    this.#readInbox()
  }

  /** Turns are handled one after the other, in the order of the deliveries. */
  #take(seat: ProgramState, turn: Promise<Turn>, now: number): void {
    turn.catch(() => {})
    this.#turns += 1
    const handled = this.#tail.then(async () => {
      await turn.then(
        (value) => this.#handle(seat, value, now),
        (error) => this.#died(seat, error),
      )
      this.#turns -= 1
      this.#rest()
    })
    this.#tail = handled.catch((error) => this.#broken(error))
  }

  /** A turn may seat another program, whose first turn follows. */
  async #quiet(): Promise<void> {
    while (this.#turns > 0 && !this.#over) await this.#tail
  }

  async #handle(seat: ProgramState, turn: Turn, now: number): Promise<void> {
    if (this.#isDeaf(seat)) return
    this.#notes.record(seat.path, turn)
    for (const call of turn.calls) {
      if (this.#isDeaf(seat)) return
      seat.issued += 1
      const id = formatCallId({ program: seat.path, number: seat.issued })
      if (this.#live) await this.#calls.issue(call, id, now)
      else this.#differ(this.#replay.compare({ call, id, now }))
      if (isNested(call)) await this.#sit(call.code ?? call.tasks!, call.args, id, now)
    }
    if (turn.end !== undefined) this.#ended(seat, turn.end)
  }

  async #sit(...nested: Parameters<RunContext['nest']>): Promise<void> {
    const program = await this.#score.nest(...nested)
    this.#take(this.#seats.add(nested[2], program), program.start(), nested[3])
  }

  /** What a nested program leaves open is withdrawn with it; its end is the result of its call. */
  #ended(seat: ProgramState, end: ProgramEnd): void {
    seat.end = end
    if (seat === this.#seats.root || !this.#live) return
    seat.program.drop()
    this.#withdraw(seat.path, false, 'the program is over')
    this.#calls.nestedEnd(seat.path, end)
  }

  #differ(error: AppError | null): void {
    if (error !== null) this.#stop ??= { status: 'failed', error }
  }

  #resolved(program: string, delivery: Delivery): void {
    const seat = this.#seats.get(program)
    if (seat === undefined || this.#isDeaf(seat)) this.#rest()
    else this.#take(seat, seat.program.deliver(delivery), delivery.now)
  }

  /** Nothing is delivered after the end of a program, nor after that of the one it runs in. */
  #isDeaf(seat: ProgramState): boolean {
    return this.#over || this.#stop !== null || seat.end !== null || this.#seats.root.end !== null
  }

  #died(seat: ProgramState, error: unknown): void {
    if (this.#over || seat.end !== null) return
    const without = sandboxUnavailable(error, this.#score.chain.run)
    if (without !== null) this.leave(without).catch(this.#fail)
    else if (seat !== this.#seats.root) this.#ended(seat, { ok: false, error: toAppError(error).toJSON() })
    else this.#stop ??= { status: 'failed', error: toAppError(error) }
  }

  #halt(stop: Stop): void {
    this.#stop ??= stop
    this.#seats.drop()
    this.#rest()
  }

  #readInbox(): void {
    if (this.#over || !this.#live) return
    try {
      for (const item of this.#score.chain.inbox()) {
        this.#score.chain.takeFromInbox(item.id)
        if (item.type === 'approval.answered') this.#calls.answer(item.body)
        else if (item.type === 'call.settled') this.#calls.settle(item.body)
        else this.cancel(item.body)
      }
      this.#rest()
    } catch (error) {
      this.#broken(error)
    }
  }

  /** Between two turns: is there anything left that can move? */
  #rest(): void {
    if (this.#over || !this.#live || this.#turns > 0) return
    try {
      this.#lookAround()
    } catch (error) {
      this.#broken(error)
    }
  }

  #lookAround(): void {
    if (this.#stop !== null) {
      this.#seats.drop()
      this.#withdraw('', true, 'the run is over')
    } else if (this.#seats.root.end !== null) this.#withdraw('', false, 'the program is over')
    else this.#endStalled()
    if (this.#over || this.#turns > 0) return
    if (this.#calls.onlyHumans) this.#suspend()
    else if (this.#calls.open.size === 0) this.#finish()
  }

  /** Cancelling resolves calls, which comes back to rest. */
  #withdraw(program: string, everything: boolean, why: string): void {
    this.#turns += 1
    this.#calls.cancelOpen(program, everything, why)
    this.#turns -= 1
  }

  #endStalled(): void {
    for (const seat of this.#seats.stalled(this.#calls.open.keys(), (id) => parseCallId(id).program)) {
      if (seat === this.#seats.root) this.#stop = stalled()
      else this.#ended(seat, { ok: false, error: stalled().error.toJSON() })
    }
  }

  #suspend(): void {
    const open = [...this.#calls.open.values()].filter(({ state }) => state !== 'nested')
    const why = open.some((call) => call.state === 'uncertain') ? 'uncertain' : 'approval'
    this.#close()
    this.#score.chain
      .suspend({ why, calls: open.map((call) => call.id) })
      .then(() => this.#settle(why === 'approval' ? 'approval_required' : why), this.#fail)
  }

  #finish(): void {
    const { chain, journal, now } = this.#score
    const outcome = outcomeOf(this.#stop, this.#seats.root.end)
    const body = { ...outcome, callCount: this.#seats.callCount, ms: Math.max(0, now() - journal.startedAt) }
    this.#close()
    chain.finish(body).then(() => this.#settle(outcome.status), this.#fail)
    this.#score.ended?.(outcome.status)
  }

  /** Nothing more can happen here, but maybe elsewhere. */
  #broken(error: unknown): void {
    if (!this.#over) this.leave(error).catch(() => this.#fail(error))
  }

  #close(): void {
    this.#over = true
    clearTimeout(this.#wall)
    this.#unsubscribe()
    this.#calls.close()
    this.#seats.drop()
  }
}
