/** The calls of one run that are under way: so many at a time, and what is beyond that waits in order. */
import { limits } from '#model'
import type { OpenCall } from './call.ts'

export class Flight {
  #under = 0
  readonly #waiting: OpenCall[] = []

  /** False where the call has to wait. */
  enter(call: OpenCall): boolean {
    const isFree = this.#under < limits.callsInFlightMax
    if (isFree) this.#under += 1
    else this.#waiting.push(call)
    return isFree
  }

  /** One is over: the next that is still wanted may enter. */
  leave(isOpen: (call: OpenCall) => boolean): OpenCall | undefined {
    this.#under -= 1
    let next = this.#waiting.shift()
    while (next !== undefined && !isOpen(next)) next = this.#waiting.shift()
    return next
  }
}
