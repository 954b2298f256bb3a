/** The turns of a run's programs, handled one after the other in the order of their deliveries. */
export class TurnQueue {
  #tail: Promise<void> = Promise.resolve()
  #length = 0

  /** True when every turn was handled: what is left can only be moved from outside. */
  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** Resolves, or rejects, when it was handled and has left the queue. */
  add(handle: () => Promise<void>): Promise<void> {
    this.#length += 1
    const handled = this.#tail.then(handle).finally(() => {
      this.#length -= 1
    })
    this.#tail = handled.catch(() => {})
    return handled
  }
}
