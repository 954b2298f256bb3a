/**
 * A program that shares its box: while it waits the box may be taken from it, and when a result
 * comes another box plays it again from what was delivered to it.
 *
 *   new ──start()──► moving ──no turn is open──► waiting ──sleep()──► asleep
 *                     │  ▲                          │                   │
 *                     │  └────────deliver()─────────┴─deliver(), played again
 *                     └─ ended, failed or drop() ──► over, from every state
 *
 * The box of a program that dies is replaced while it moves, at most `boxDeathsMax` times.
 */
import { AppError, type Delivery, limits, type Program, type Turn } from '#model'

/** How a program gets a box, and what was delivered to it in its life, from the record. */
export type ProgramSource = { open(): Promise<Program>; deliveries(): Promise<Map<number, Delivery>> }

/** `playedMs` is how long its turns took: about what playing it again would take. */
export type Sharer = { idleSince: number | null; playedMs: number; sleep(): void }

/** The boxes as one program sees them. */
type Places = {
  take(): Promise<void>
  give(): void
  woke(one: Sharer): void
  rested(one: Sharer): void
  left(one: Sharer): void
  keptMax: number
}

type Act = (program: Program) => Promise<Turn>

const nothing: Turn = { calls: [], logs: [] }

export function sharedProgram(source: ProgramSource, places: Places): Program {
  const shared = new SharedProgram(source, places)
  return {
    start: () => shared.start(),
    deliver: (delivery) => shared.deliver(delivery),
    drop: () => shared.drop(),
  }
}

class SharedProgram implements Sharer {
  idleSince: number | null = null
  playedMs = 0
  readonly #source: ProgramSource
  readonly #places: Places
  readonly #delivered: Deliveries
  #box: Promise<Program> | null = null
  /** Turns that are under way. */
  #open = 0
  #deaths = 0
  #isStarted = false
  #isOver = false

  constructor(source: ProgramSource, places: Places) {
    this.#source = source
    this.#places = places
    this.#delivered = new Deliveries(source, places.keptMax)
  }

  start(): Promise<Turn> {
    const turned = this.#turn((program) => program.start())
    this.#isStarted = true
    return turned
  }

  deliver(delivery: Delivery): Promise<Turn> {
    const turned = this.#turn((program) => program.deliver(delivery))
    this.#delivered.add(delivery)
    return turned
  }

  drop(): void {
    if (this.#isOver) return
    this.#end()
    this.sleep()
  }

  /** Gives up its box. */
  sleep(): void {
    this.#box?.then((program) => program.drop()).catch(() => {})
    this.#box = null
  }

  async #turn(act: Act): Promise<Turn> {
    if (this.#isOver) return nothing
    this.#open += 1
    this.idleSince = null
    const before = this.#isStarted ? this.#delivered.calls() : null
    this.#box ??= this.#wake(before)
    const box = this.#box
    try {
      const turn = await this.#act(box, act).catch((error) => this.#actAgain(error, box, before, act))
      if (turn.end !== undefined) this.#end()
      return turn
    } catch (error) {
      this.#end()
      throw error
    } finally {
      this.#open -= 1
      if (this.#open === 0 && !this.#isOver) this.#places.rested(this)
    }
  }

  async #act(box: Promise<Program>, act: Act): Promise<Turn> {
    const program = await box
    const began = performance.now()
    const turn = this.#isOver ? nothing : await act(program)
    this.playedMs += performance.now() - began
    return turn
  }

  /** `before` are the calls whose results it has; null where it is yet to begin. */
  async #wake(before: number[] | null): Promise<Program> {
    await this.#places.take()
    try {
      const program = this.#isOver ? null : await this.#source.open()
      if (program !== null && before !== null) await this.#playAgain(program, before)
      if (program !== null && !this.#isOver) {
        this.#places.woke(this)
        return program
      }
      program?.drop()
      throw new AppError('CANCELLED', 'Cannot continue the program: it was dropped')
    } catch (error) {
      this.#places.give()
      throw error
    }
  }

  /** Its turns are those that it made before: they are dropped. */
  async #playAgain(program: Program, before: number[]): Promise<void> {
    const deliveries = await this.#delivered.read()
    await Promise.all([program.start(), ...before.map((call) => program.deliver(deliveries.get(call)!))])
  }

  /**
   * A box that was killed takes no program with it: another box plays it again, and goes on. Turns
   * are rejected in their order.
   */
  async #actAgain(error: unknown, dead: Promise<Program>, before: number[] | null, act: Act): Promise<Turn> {
    if (this.#isOver || !isDeath(error)) throw error
    if (this.#box === dead) {
      this.#deaths += 1
      if (this.#deaths > limits.boxDeathsMax) throw error
      this.#places.left(this)
      this.#box = this.#wake(before)
    }
    return this.#act(this.#box!, act)
  }

  #end(): void {
    this.#isOver = true
    this.#places.left(this)
  }
}

/** What was delivered, kept as long as it is little: else it is read where it was written. */
class Deliveries {
  readonly #source: ProgramSource
  readonly #keptMax: number
  readonly #calls: number[] = []
  #kept: Map<number, Delivery> | null = new Map()
  #characters = 0

  constructor(source: ProgramSource, keptMax: number) {
    this.#source = source
    this.#keptMax = keptMax
  }

  add(delivery: Delivery): void {
    this.#calls.push(delivery.call)
    this.#characters += delivery.text.length
    if (this.#characters > this.#keptMax) this.#kept = null
    this.#kept?.set(delivery.call, delivery)
  }

  calls(): number[] {
    return [...this.#calls]
  }

  async read(): Promise<Map<number, Delivery>> {
    return this.#kept ?? (await this.#source.deliveries())
  }
}

function isDeath(error: unknown): boolean {
  return error instanceof AppError && error.code === 'SANDBOX_EXECUTION_FAILED'
}
