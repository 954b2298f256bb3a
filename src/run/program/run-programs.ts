/**
 * The programs of one run: its own, and those that run as its calls, each with what it has issued
 * and how it ended.
 */
import type { Delivery, Program, ProgramEnd, Turn } from '#model'
import { formatCallId, parseCallId } from '#run/record'

export type ProgramState = { path: string; program: Program; issued: number; end: ProgramEnd | null }

/** A turn that a program makes, and the time that it is told. */
export type ProgramTurn = { state: ProgramState; turn: Promise<Turn>; now: number }

export class RunPrograms {
  readonly root: ProgramState
  readonly #byPath: Map<string, ProgramState>

  constructor(program: Program) {
    this.root = { path: '', program, issued: 0, end: null }
    this.#byPath = new Map([['', this.root]])
  }

  get(path: string): ProgramState | undefined {
    return this.#byPath.get(path)
  }

  add(path: string, program: Program): ProgramState {
    const state: ProgramState = { path, program, issued: 0, end: null }
    this.#byPath.set(path, state)
    return state
  }

  /** Nothing is delivered after the end of a program, nor after that of the run's own. */
  isOpen({ end }: ProgramState): boolean {
    return end === null && this.root.end === null
  }

  issuedBy(path: string): number {
    return this.#byPath.get(path)?.issued ?? 0
  }

  get callCount(): number {
    return [...this.#byPath.values()].reduce((sum, { issued }) => sum + issued, 0)
  }

  get ended(): { path: string; end: ProgramEnd }[] {
    return [...this.#byPath.values()].flatMap(({ path, end }) => (end === null ? [] : [{ path, end }]))
  }

  /** A program that waits while none of its calls is open will wait for ever. */
  stalled(open: Iterable<string>): ProgramState[] {
    const waited = new Set([...open].map((id) => parseCallId(id).program))
    return [...this.#byPath.values()].filter(({ end, path }) => end === null && !waited.has(path))
  }

  drop(): void {
    for (const { program } of this.#byPath.values()) program.drop()
  }
}

/** The id of the next call that a program issues. */
export function nextCallId(state: ProgramState): string {
  state.issued += 1
  return formatCallId({ program: state.path, number: state.issued })
}

export function startTurn(state: ProgramState, now: number): ProgramTurn {
  return handled({ state, turn: state.program.start(), now })
}

export function deliverTurn(state: ProgramState, delivery: Delivery): ProgramTurn {
  return handled({ state, turn: state.program.deliver(delivery), now: delivery.now })
}

/** It may be rejected before anything waits for it. */
function handled(turn: ProgramTurn): ProgramTurn {
  turn.turn.catch(() => {})
  return turn
}
