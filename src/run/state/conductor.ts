/**
 * Moves one run that this process owns, until it ends or waits. Whatever happens enters by #on():
 * the run takes one step (run-state.ts), and what follows from it is done here. What takes time, a
 * turn, a try, a pause, the disk, comes back as an input of its own.
 */
import { type Delivery, type EventBodies, limits } from '#model'
import {
  type CallContext,
  definitionOf,
  type FollowUp,
  InFlight,
  type OpenCall,
  type RunContext,
  type SendingCall,
  triesOf,
  tryUntilKnown,
  wakeAt,
} from '#run/calls'
import { deliverTurn, nextCallId, OutputRecorder, type ProgramTurn, startTurn } from '#run/program'
import { cancelledBy, type Replay, type Settlement, timeLeft } from '#run/record'
import { playRecord, runsAlone } from './play-record.ts'
import type { RunInput } from './run-phase.ts'
import { RunState } from './run-state.ts'
import { TurnQueue } from './turn-queue.ts'

export class Conductor {
  readonly #context: RunContext & CallContext
  readonly #run: RunState
  readonly #output: OutputRecorder
  readonly #turns = new TurnQueue()
  readonly #inFlight = new InFlight()
  readonly #settlement = Promise.withResolvers<Settlement>()
  readonly #question = Promise.withResolvers<void>()
  #released: Promise<void> = Promise.resolve()
  #clock: NodeJS.Timeout | undefined
  #unsubscribe = () => {}

  constructor(context: RunContext) {
    const { budget, plan } = context.journal.started
    this.#context = { ...context, budget, plan: plan.kind }
    this.#run = new RunState(this.#context)
    this.#output = new OutputRecorder(context.chain, context.journal)
    this.settled.catch(() => {})
  }

  get settled(): Promise<Settlement> {
    return this.#settlement.promise
  }

  /** Resolves with the first question to a human. */
  get asked(): Promise<void> {
    return this.#question.promise
  }

  begin(): void {
    const { phase } = this.#run
    this.#enqueue(() => (phase.name === 'replaying' ? this.#resume(phase.replay) : this.#start()))
  }

  /** Asks the run to end; what was sent and cannot be taken back is awaited and recorded. */
  cancel(asked: EventBodies['cancel.asked']): void {
    this.#on({ kind: 'cancelled', asked })
  }

  /**
   * Lets go of the run, so that another process can take it up; what was sent and is not answered
   * soon stays in doubt.
   */
  leave(error?: unknown): Promise<void> {
    if (this.#run.isOurs) {
      this.#close('leaving')
      this.#released = this.#release(error)
    }
    return this.#released
  }

  async #release(error: unknown): Promise<void> {
    if (error === undefined) await this.#inFlight.drained(this.#context.pause)
    this.#close('over')
    await this.#context.chain.suspend({ why: 'stopped', calls: [...this.#run.calls.open.keys()] })
    if (error === undefined) this.#settlement.resolve('interrupted')
    else this.#settlement.reject(error)
  }

  /** The time that a box takes to open, and the program for its first turn, is not the run's. */
  async #start(): Promise<void> {
    const first = startTurn(this.#run.programs.root, this.#context.journal.beganAt)
    await first.turn.catch(() => {})
    this.#startClock()
    for (const nested of await this.#play(first)) this.#take(nested)
    this.#listen()
  }

  /**
   * Nothing is sent before every recorded result was delivered and every recorded call was issued
   * again.
   */
  async #resume(replay: Replay): Promise<void> {
    const { journal } = this.#context
    const { programs } = this.#run
    const isOver = () => !this.#run.isIn('replaying')
    await playRecord(journal, programs, { play: this.#play, isOver, isAtOnce: runsAlone(journal) })
    if (!isOver()) this.#run.stopBy(replay.missing((program) => programs.issuedBy(program)))
    this.#startClock()
    this.#run.goLive()
    if (this.#run.isIn('live')) await this.#goOn(replay)
    else this.#abandonAll()
    this.#listen()
  }

  /** What the record left open moves on, then what the last turns issued beyond it. */
  async #goOn({ open, unrecorded }: Replay): Promise<void> {
    for (const { recorded, issue } of open) {
      const { call, id, now } = issue
      this.#on({ kind: 'reopened', recorded, call, now, definition: await definitionOf(call.tool, id, this.#context) })
    }
    for (const { call, id, now } of unrecorded) {
      this.#on({ kind: 'issued', call, id, now, definition: await definitionOf(call.tool, id, this.#context) })
    }
    for (const { path, end } of this.#run.programs.ended) this.#on({ kind: 'replayed', path, end })
  }

  #abandonAll(): void {
    for (const recorded of this.#context.journal.calls.values()) {
      if (recorded.last !== 'resolved') this.#on({ kind: 'abandoned', recorded })
    }
  }

  /** Its time may be used up, or it was cancelled, and its last owner did not end it. */
  #startClock(): void {
    if (!this.#run.isIn('replaying', 'live')) return
    const { journal, now } = this.#context
    const { ms, stop } = timeLeft(journal, now())
    if (ms <= 0) this.#on({ kind: 'stopped', stop: stop() })
    else if (ms <= limits.timeoutMsMax) this.#clock = setTimeout(() => this.#on({ kind: 'stopped', stop: stop() }), ms)
    if (journal.cancelled !== null) this.#on({ kind: 'stopped', stop: cancelledBy(journal.cancelled) })
  }

  #listen(): void {
    if (!this.#run.isOurs) return
    this.#unsubscribe = this.#context.chain.onInbox(() => this.#on({ kind: 'inbox' }))
    this.#on({ kind: 'inbox' })
  }

  #enqueue(handle: () => Promise<void>): void {
    this.#turns.add(handle).then(
      () => this.#on({ kind: 'turned' }),
      (error) => this.#broken(error),
    )
  }

  #take(turn: ProgramTurn): void {
    this.#enqueue(async () => {
      for (const nested of await this.#play(turn)) this.#take(nested)
    })
  }

  /** Handles one turn; resolves with the first turns of the programs that run as its calls. */
  readonly #play = async ({ state, turn, now }: ProgramTurn): Promise<ProgramTurn[]> => {
    const run = this.#run
    const nested: ProgramTurn[] = []
    const value = await turn.catch((error) => void this.#on({ kind: 'died', program: state, error }))
    if (value === undefined || !run.isHeard(state)) return nested
    this.#output.record(state.path, value)
    for (const call of value.calls) {
      if (!run.isHeard(state)) return nested
      const id = nextCallId(state)
      if (run.phase.name === 'replaying') run.stopBy(run.phase.replay.compare({ call, id, now }))
      else this.#on({ kind: 'issued', call, id, now, definition: await definitionOf(call.tool, id, this.#context) })
      const source = call.code ?? call.tasks
      if (source === undefined) continue
      const program = await this.#context.nest(source, call.args, id, now)
      nested.push(startTurn(run.programs.add(id, program), now))
    }
    if (value.end !== undefined) this.#on({ kind: 'ended', program: state, end: value.end })
    return nested
  }

  /** Every input, one after the other: a step, what follows from it, and whether that was all. */
  #on(input: RunInput): void {
    if (!this.#run.accepts(input)) return
    try {
      this.#perform(this.#run.step(input))
      if (this.#turns.isEmpty) this.#perform(this.#run.rest())
      if (this.#turns.isEmpty) this.#perform(this.#run.settle())
    } catch (error) {
      this.#broken(error)
    }
  }

  #perform(followUps: FollowUp[]): void {
    for (const next of followUps) {
      switch (next.kind) {
        case 'send':
          this.#send(next.call)
          break
        case 'wake':
          wakeAt(next.due, next.signal, this.#context, () => this.#on({ kind: 'due', call: next.call }))
          break
        case 'deliver':
          this.#deliver(next.program, next.delivery)
          break
        case 'ask':
          this.#question.resolve()
          break
        case 'stop':
          this.#run.stopBy(next.error)
          break
        case 'leave':
          this.leave(next.error).catch(this.#settlement.reject)
          break
        case 'suspend':
          this.#suspend(next.body)
          break
        case 'finish':
          this.#finish(next.body)
          break
      }
    }
  }

  #deliver(path: string, delivery: Delivery): void {
    const program = this.#run.programs.get(path)
    if (program !== undefined && this.#run.isHeard(program)) this.#take(deliverTurn(program, delivery))
  }

  #send(call: SendingCall): void {
    if (!this.#run.isIn('live')) this.#perform(this.#run.calls.cancel(call, 'the run is over'))
    else if (this.#inFlight.enter(call)) this.#try(call).catch((error) => this.#broken(error))
  }

  async #try(call: SendingCall): Promise<void> {
    const { now } = this.#context
    const isOpen = (one: OpenCall) => this.#run.isOpen(one)
    const wanted = { isOpen: () => isOpen(call), isStopped: () => this.#run.isIn('stopping') }
    const began = now()
    const outcome = await tryUntilKnown(call.state.target.effect, triesOf(call, this.#context, wanted))
    const next = this.#inFlight.leave(call, isOpen)
    this.#on({ kind: 'tried', call, outcome, ms: now() - began })
    if (next !== undefined) this.#send(next)
  }

  #suspend(body: Extract<FollowUp, { kind: 'suspend' }>['body']): void {
    const settlement = body.why === 'approval' ? 'approval_required' : body.why
    this.#close('over')
    this.#context.chain.suspend(body).then(() => this.#settlement.resolve(settlement), this.#settlement.reject)
  }

  #finish(body: EventBodies['run.finished']): void {
    this.#close('over')
    this.#context.chain.finish(body).then(() => this.#settlement.resolve(body.status), this.#settlement.reject)
    this.#context.ended?.(body.status)
  }

  /** Nothing more can happen here, but maybe elsewhere. */
  #broken(error: unknown): void {
    if (this.#run.isOurs) this.leave(error).catch(() => this.#settlement.reject(error))
  }

  #close(phase: 'leaving' | 'over'): void {
    this.#run.close(phase)
    clearTimeout(this.#clock)
    this.#unsubscribe()
  }
}
