/**
 * One run under way: its phase (drawn above RunPhase), its programs and its open calls. step()
 * takes whatever happens to it, appends to the record, and returns what follows. It is never
 * entered twice: nothing in here waits, and nothing calls back.
 */
import { type AppError, type EventBodies, type ProgramEnd, toAppError } from '#model'
import { type CallContext, type FollowUp, type OpenCall, type RunContext, stopWaiting } from '#run/calls'
import { type ProgramState, RunPrograms } from '#run/program'
import { cancelledBy, outcomeOf, programLate, Replay, type Stop, sandboxUnavailable, stalled } from '#run/record'
import { Calls } from './call-lifecycle.ts'
import type { RunInput, RunPhase } from './run-phase.ts'

export class RunState {
  readonly calls: Calls
  readonly programs: RunPrograms
  readonly #context: RunContext & CallContext
  #phase: RunPhase

  constructor(context: RunContext & CallContext) {
    const { journal, program } = context
    this.#context = context
    this.calls = new Calls(context)
    this.programs = new RunPrograms(program)
    this.#phase = journal.calls.size === 0 ? { name: 'live' } : { name: 'replaying', replay: new Replay(journal) }
  }

  get phase(): RunPhase {
    return this.#phase
  }

  isIn(...names: RunPhase['name'][]): boolean {
    return names.includes(this.#phase.name)
  }

  /** Neither over, nor about to be left. */
  get isOurs(): boolean {
    return this.isIn('replaying', 'live', 'stopping')
  }

  /** Whether what this program does, or gets, still counts. */
  isHeard(program: ProgramState): boolean {
    return this.isIn('replaying', 'live') && this.programs.isOpen(program)
  }

  isOpen(call: OpenCall): boolean {
    return this.isOurs && this.calls.open.has(call.id)
  }

  /** A call may have been resolved while its outcome or its time was on the way. */
  accepts(input: RunInput): boolean {
    if (input.kind !== 'tried' && input.kind !== 'due') return this.isOurs
    const isLastAnswer = this.isIn('leaving') && input.kind === 'tried' && input.outcome.outcome === 'answered'
    return (this.isOurs || isLastAnswer) && this.calls.open.has(input.call.id)
  }

  step(input: RunInput): FollowUp[] {
    switch (input.kind) {
      case 'issued':
        return this.isIn('live') ? this.calls.issue(input.call, input) : []
      case 'reopened':
        if (!this.isIn('live')) return this.calls.abandon(input.recorded)
        return this.calls.reopen(input.recorded, input.call, input)
      case 'abandoned':
        return this.calls.abandon(input.recorded)
      case 'replayed':
        return this.calls.nestedEnd(input.path, input.end)
      case 'ended':
        return this.#ended(input.program, input.end)
      case 'died':
        return this.#died(input.program, input.error)
      case 'tried':
        return this.calls.tried(input.call, input.outcome, input.ms)
      case 'due':
        return this.#due(input.call)
      case 'inbox':
        return this.#readInbox()
      case 'cancelled':
        return this.#cancelled(input.asked)
      case 'stopped':
        return this.#halt(input.stop)
      case 'turned':
        return []
    }
  }

  /**
   * When every turn was handled: calls that are not needed any more, and programs that no call can
   * wake, are ended.
   */
  rest(): FollowUp[] {
    if (this.isIn('stopping')) {
      this.programs.drop()
      return this.calls.withdraw('', true, 'the run is over')
    }
    if (!this.isIn('live')) return []
    return this.programs.root.end === null ? this.#endStalled() : this.calls.withdraw('', false, 'the program is over')
  }

  /** Whether the run is over, or has to wait for humans, if that left nothing to do. */
  settle(): FollowUp[] {
    if (!this.isIn('live', 'stopping')) return []
    if (this.calls.onlyHumans) return this.#suspend()
    return this.calls.open.size === 0 ? this.#finish() : []
  }

  /** The replay is over, unless it was stopped. */
  goLive(): void {
    if (this.#phase.name === 'replaying') this.#phase = { name: 'live' }
  }

  /** What stops the run keeps its first reason; null stops nothing. */
  stopBy(error: AppError | null): void {
    if (error !== null) this.#stop({ status: 'failed', error })
  }

  /** Nothing moves any more; while its owner leaves, what is at a server may still be answered. */
  close(name: 'leaving' | 'over'): void {
    this.#phase = { name }
    if (name === 'over') for (const call of this.calls.open.values()) stopWaiting(call)
    this.programs.drop()
  }

  #stop(stop: Stop): void {
    if (this.isIn('replaying', 'live')) this.#phase = { name: 'stopping', stop }
  }

  #halt(stop: Stop): FollowUp[] {
    this.#stop(stop)
    this.programs.drop()
    return []
  }

  #cancelled(asked: EventBodies['cancel.asked']): FollowUp[] {
    if (this.isIn('stopping')) return []
    const body = this.#context.secrets.hide(asked, 'metier') as typeof asked
    this.#context.chain.append('cancel.asked', body)
    return this.#halt(cancelledBy(body))
  }

  /** What a nested program leaves open is withdrawn with it; its end is the result of its call. */
  #ended(program: ProgramState, end: ProgramEnd): FollowUp[] {
    program.end = end
    if (program === this.programs.root || this.isIn('replaying')) return []
    program.program.drop()
    const withdrawn = this.calls.withdraw(program.path, false, 'the program is over')
    return [...withdrawn, ...this.calls.nestedEnd(program.path, end)]
  }

  #died(program: ProgramState, error: unknown): FollowUp[] {
    if (program.end !== null) return []
    const unavailable = sandboxUnavailable(error, this.#context.chain.run)
    if (unavailable !== null) return [{ kind: 'leave', error: unavailable }]
    const cause = toAppError(error)
    if (program !== this.programs.root) return this.#ended(program, { ok: false, error: cause.toJSON() })
    this.stopBy(cause)
    return []
  }

  #due(call: OpenCall): FollowUp[] {
    const { id, timeoutMs } = call
    const program = this.programs.get(id)
    if (call.state.name !== 'nested' || timeoutMs === undefined || program === undefined) return this.calls.due(call)
    return this.#died(program, programLate(timeoutMs))
  }

  #readInbox(): FollowUp[] {
    const { chain } = this.#context
    return chain.inbox().flatMap((item) => {
      chain.takeFromInbox(item.id)
      if (item.type === 'approval.answered') return this.calls.answer(item.body)
      return item.type === 'call.settled' ? this.calls.settle(item.body) : this.#cancelled(item.body)
    })
  }

  #endStalled(): FollowUp[] {
    return this.programs.stalled(this.calls.open.keys()).flatMap((program) => {
      const stop = stalled()
      if (program !== this.programs.root) return this.#ended(program, { ok: false, error: stop.error.toJSON() })
      this.#stop(stop)
      return []
    })
  }

  #suspend(): FollowUp[] {
    const open = [...this.calls.open.values()].filter(({ state }) => state.name !== 'nested')
    const why = open.some(({ state }) => state.name === 'uncertain') ? 'uncertain' : 'approval'
    return [{ kind: 'suspend', body: { why, calls: open.map(({ id }) => id) } }]
  }

  #finish(): FollowUp[] {
    const { journal, now } = this.#context
    const end = this.#phase.name === 'stopping' ? this.#phase.stop : (this.programs.root.end ?? stalled())
    const ms = Math.max(0, now() - journal.startedAt)
    return [{ kind: 'finish', body: { ...outcomeOf(end), callCount: this.programs.callCount, ms } }]
  }
}
