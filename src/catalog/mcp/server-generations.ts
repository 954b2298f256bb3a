/** Which life of a stateful server each run has used: what a run did in one is gone in the next. */
import { limits } from '#model'

/** A life that this process has not seen. */
const unknownLife = 0

export class ServerGenerations {
  readonly #byRun = new Map<string, number>()

  /** Whether some run still counts on the server as it is. */
  get areUsed(): boolean {
    return this.#byRun.size > 0
  }

  /**
   * The run is about to use this life; answers with how to take that back, or null if it has used
   * another one.
   */
  claim(run: string, life: number): (() => void) | null {
    const used = this.#byRun.get(run)
    if (used !== undefined) return used === life ? () => {} : null
    this.#set(run, life)
    return () => void this.#byRun.delete(run)
  }

  /**
   * The run has used the server before, in a life that may be over; one that this process remembers
   * counts.
   */
  carryOver(run: string): void {
    if (!this.#byRun.has(run)) this.#set(run, unknownLife)
  }

  release(run: string): void {
    this.#byRun.delete(run)
  }

  #set(run: string, life: number): void {
    if (this.#byRun.size >= limits.statefulRunsMax) this.#byRun.delete(this.#byRun.keys().next().value!)
    this.#byRun.set(run, life)
  }
}
