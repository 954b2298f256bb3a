/**
 * The calls of one run that are under way: so many at a time, and what is beyond that waits in
 * order.
 */
import { limits, mayRepeat } from '#model'
import type { CallContext } from './call-context.ts'
import type { OpenCall, SendingCall } from './open-call.ts'

export class InFlight {
  readonly #under = new Set<SendingCall>()
  readonly #waiting: SendingCall[] = []
  #left = () => {}

  /** False where the call has to wait. */
  enter(call: SendingCall): boolean {
    const isFree = this.#under.size < limits.callsInFlightMax
    if (isFree) this.#under.add(call)
    else this.#waiting.push(call)
    return isFree
  }

  /** One is over: the next that is still wanted may enter. */
  leave(call: SendingCall, isOpen: (call: OpenCall) => boolean): SendingCall | undefined {
    this.#under.delete(call)
    this.#left()
    let next = this.#waiting.shift()
    while (next !== undefined && !isOpen(next)) next = this.#waiting.shift()
    return next
  }

  /**
   * Resolves when none is at its server any more that may be made only once, at the latest after a
   * moment.
   */
  async drained(pause: CallContext['pause']): Promise<void> {
    const over = new AbortController()
    const last = new Promise<void>((resolve) => {
      const isAwaited = ({ state }: SendingCall) => !mayRepeat(state.target.effect) && state.isCommitted
      this.#left = () => [...this.#under].some(isAwaited) || resolve()
      this.#left()
    })
    await Promise.race([last, pause(limits.landingMsMax, over.signal)])
    over.abort()
  }
}
