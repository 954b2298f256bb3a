/**
 * The programs of one run: its own, and those that run as its calls, each with what it has issued
 * and how it ended.
 */
import type { Program, ProgramEnd } from '#model'

export type ProgramState = { path: string; program: Program; issued: number; end: ProgramEnd | null }

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
    const seat: ProgramState = { path, program, issued: 0, end: null }
    this.#byPath.set(path, seat)
    return seat
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
  stalled(open: Iterable<string>, programOf: (call: string) => string): ProgramState[] {
    const waited = new Set([...open].map(programOf))
    return [...this.#byPath.values()].filter(({ end, path }) => end === null && !waited.has(path))
  }

  drop(): void {
    for (const { program } of this.#byPath.values()) program.drop()
  }
}
