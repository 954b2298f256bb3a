/** Moves one run that this process owns: replays what the record holds, then turns in, calls out, until it ends or waits. */
import {
  AppError,
  type Delivery,
  type EventBodies,
  type IssuedCall,
  limits,
  type Program,
  type ProgramEnd,
  RawJson,
  type Turn,
  toAppError,
} from '#model'
import { Calls, type Desk } from './calls.ts'
import type { Journal, RecordedCall } from './journal.ts'

export type Settlement = 'done' | 'failed' | 'cancelled' | 'approval_required' | 'uncertain' | 'interrupted'

export type Score = Pick<Desk, 'chain' | 'catalog' | 'secrets' | 'policy' | 'now'> & {
  journal: Journal
  program: Program
}

/** Why a run is over although its program is not: what can be ended is, and nothing more is delivered. */
type Stop = { status: 'failed' | 'cancelled'; error: AppError }

export class Conductor {
  readonly settled: Promise<Settlement>
  readonly #score: Score
  readonly #calls: Calls
  readonly #replayed: { recorded: RecordedCall; now: number }[] = []
  readonly #held: { call: IssuedCall; number: number; now: number }[] = []
  #settle!: (settlement: Settlement) => void
  #fail!: (error: unknown) => void
  #tail: Promise<void> = Promise.resolve()
  #turns = 0
  #issued = 0
  #logLines = 0
  #live = false
  #over = false
  #end: ProgramEnd | null = null
  #stop: Stop | null = null
  #wall: NodeJS.Timeout | undefined
  #unsubscribe = () => {}

  constructor(score: Score) {
    this.#score = score
    this.#calls = new Calls({
      ...score,
      budget: score.journal.started.budget,
      resolved: (delivery) => this.#resolved(delivery),
      rested: () => this.#rest(),
      broken: (error) => this.#broken(error),
    })
    this.settled = new Promise((resolve, reject) => {
      this.#settle = resolve
      this.#fail = reject
    })
    this.settled.catch(() => {})
  }

  /** Nothing is sent before every recorded result was delivered and every recorded call was issued again. */
  begin(): void {
    this.#replay().catch((error) => this.#broken(error))
  }

  /** Asks the run to end; what was sent and cannot be taken back is awaited and recorded. */
  cancel(asked: EventBodies['cancel.asked']): void {
    if (this.#over || this.#stop !== null) return
    try {
      this.#score.chain.append('cancel.asked', asked)
      this.#cancelled(asked)
      this.#rest()
    } catch (error) {
      this.#broken(error)
    }
  }

  /** Lets go of the run, so that another process can take it up; what was sent and not answered stays in doubt. */
  async leave(): Promise<void> {
    if (this.#over) return
    const calls = [...this.#calls.open.keys()].map(String)
    this.#close()
    await this.#score.chain.suspend({ why: 'stopped', calls })
    this.#settle('interrupted')
  }

  async #replay(): Promise<void> {
    const { journal, program, chain } = this.#score
    this.#take(program.start(), journal.startedAt)
    await this.#tail
    for (const recorded of journal.deliveries) {
      if (recorded.call > this.#issued || this.#end !== null || this.#stop !== null) break
      this.#take(program.deliver(recorded), recorded.now)
      await this.#tail
    }
    if (this.#over) return
    const missing = journal.calls[this.#issued]
    if (missing !== undefined && this.#stop === null) this.#mismatch(missing, null)
    this.#wall = setTimeout(() => this.#outOfTime(), journal.started.budget.wallMs)
    this.#unsubscribe = chain.onInbox(() => this.#readInbox())
    await this.#goOn()
  }

  /** After the replay: open calls move on from where the record left them, then what the last turns issued anew. */
  async #goOn(): Promise<void> {
    const { cancelled } = this.#score.journal
    this.#turns += 1
    this.#live = true
    if (cancelled !== null) this.#cancelled(cancelled)
    if (this.#stop === null) {
      for (const { recorded, now } of this.#replayed) await this.#calls.reopen(recorded, now)
      for (const { call, number, now } of this.#held) await this.#calls.issue(call, number, now)
    } else for (const recorded of this.#score.journal.calls) this.#calls.giveUp(recorded)
    this.#turns -= 1
    this.#readInbox()
    this.#rest()
  }

  /** Turns are handled one after the other, in the order of the deliveries. */
  #take(turn: Promise<Turn>, now: number): void {
    turn.catch(() => {})
    this.#turns += 1
    this.#tail = this.#tail.then(async () => {
      const handled = await turn.then(
        (value) => this.#handle(value, now),
        (error) => this.#died(error),
      )
      this.#turns -= 1
      this.#rest()
      return handled
    })
    this.#tail = this.#tail.catch((error) => this.#broken(error))
  }

  async #handle(turn: Turn, now: number): Promise<void> {
    if (this.#over || this.#stop !== null || this.#end !== null) return
    this.#log(turn)
    for (const call of turn.calls) {
      this.#issued += 1
      const recorded = this.#score.journal.calls[this.#issued - 1]
      if (recorded !== undefined) this.#compare(recorded, call, now)
      else if (this.#live) await this.#calls.issue(call, this.#issued, now)
      else this.#held.push({ call, number: this.#issued, now })
    }
    if (turn.end !== undefined) this.#end = turn.end
  }

  /** A replayed program logs the same lines again: only those beyond the record are new. */
  #log({ logs }: Turn): void {
    const known = Math.max(0, this.#score.journal.logLines - this.#logLines)
    this.#logLines += logs.length
    const lines = logs.slice(known)
    if (lines.length > 0) this.#score.chain.append('run.logged', { lines })
  }

  #compare(recorded: RecordedCall, call: IssuedCall, now: number): void {
    if (recorded.tool !== call.tool || recorded.args !== call.args) this.#mismatch(recorded, call)
    else if (recorded.last !== 'resolved') this.#replayed.push({ recorded, now })
  }

  #mismatch(recorded: RecordedCall, call: IssuedCall | null): void {
    const shown = ({ tool, args }: IssuedCall) => ({ tool, args: args.slice(0, limits.previewCharactersMax) })
    const found = call === null ? 'the program did not issue it again' : 'the program issued another call'
    const message = `Cannot replay call ${recorded.number}: ${found}; fork the run to go on from there`
    const context = {
      call: String(recorded.number),
      recorded: shown(recorded),
      replayed: call === null ? null : shown(call),
    }
    this.#stop ??= { status: 'failed', error: new AppError('REPLAY_MISMATCH', message, context) }
  }

  #resolved(delivery: Delivery): void {
    if (this.#end !== null || this.#stop !== null) this.#rest()
    else this.#take(this.#score.program.deliver(delivery), delivery.now)
  }

  #died(error: unknown): void {
    if (!this.#over && this.#end === null) this.#stop ??= { status: 'failed', error: toAppError(error) }
  }

  #outOfTime(): void {
    const { wallMs } = this.#score.journal.started.budget
    const message = `Cannot go on with the run: its budget of ${wallMs} ms is used up`
    this.#stop ??= { status: 'failed', error: new AppError('BUDGET_EXCEEDED', message, { wallMs }) }
    this.#score.program.drop()
    this.#rest()
  }

  #cancelled({ who, reason }: EventBodies['cancel.asked']): void {
    const said = reason === undefined ? '' : `: ${reason}`
    const error = new AppError('CANCELLED', `The run was cancelled by ${who}${said}`, { who })
    this.#stop ??= { status: 'cancelled', error }
    this.#score.program.drop()
  }

  #readInbox(): void {
    if (this.#over || !this.#live) return
    try {
      for (const item of this.#score.chain.inbox()) {
        this.#score.chain.consume(item.id)
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
    if (this.#stop !== null) {
      this.#score.program.drop()
      this.#withdraw(true, 'the run is over')
    } else if (this.#end !== null) this.#withdraw(false, 'the program is over')
    if (this.#over || this.#turns > 0) return
    if (this.#calls.onlyHumans) return this.#suspend()
    if (this.#calls.open.size > 0) return
    if (this.#stop === null && this.#end === null) this.#stall()
    this.#finish()
  }

  /** Cancelling resolves calls, which comes back here: one round is enough. */
  #withdraw(everything: boolean, why: string): void {
    this.#turns += 1
    this.#calls.cancelOpen(everything, why)
    this.#turns -= 1
  }

  #stall(): void {
    const message = 'Cannot go on with the program: it waits, but no call is open that could wake it'
    this.#stop = { status: 'failed', error: new AppError('PROGRAM_STALLED', message, {}) }
  }

  #suspend(): void {
    const open = [...this.#calls.open.values()]
    const why = open.some((call) => call.state === 'uncertain') ? 'uncertain' : 'approval'
    this.#close()
    this.#score.chain
      .suspend({ why, calls: open.map((call) => String(call.number)) })
      .then(() => this.#settle(why === 'approval' ? 'approval_required' : why), this.#fail)
  }

  #finish(): void {
    const { chain, journal, now } = this.#score
    const over = this.#stop ?? endOf(this.#end!)
    const body: EventBodies['run.finished'] = {
      status: over.status,
      ...('error' in over ? { error: 'toJSON' in over.error ? over.error.toJSON() : over.error } : {}),
      ...('value' in over ? { result: new RawJson(over.value) } : {}),
      callCount: this.#issued,
      ms: now() - journal.startedAt,
    }
    this.#close()
    chain.finish(body).then(() => this.#settle(over.status), this.#fail)
  }

  #broken(error: unknown): void {
    if (this.#over) return
    this.#close()
    this.#fail(error)
  }

  #close(): void {
    this.#over = true
    clearTimeout(this.#wall)
    this.#unsubscribe()
    this.#calls.close()
    this.#score.program.drop()
  }
}

function endOf(end: ProgramEnd) {
  return end.ok ? { status: 'done' as const, value: end.value } : { status: 'failed' as const, error: end.error }
}
