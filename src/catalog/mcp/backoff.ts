/**
 * A server that cannot be started is left alone for longer and longer: the first tries are free,
 * then each waits twice as long.
 */
import { AppError, limits } from '#model'

export class Backoff {
  #failures = 0
  #until = 0
  #last: AppError | null = null

  failed(error: AppError, now: number): void {
    this.#failures++
    this.#last = error
    const steps = this.#failures - limits.upstreamFreeStartsMax
    const ms = steps < 0 ? 0 : Math.min(limits.upstreamBackoffMsMin * 2 ** steps, limits.upstreamBackoffMsMax)
    this.#until = now + ms
  }

  succeeded(): void {
    this.#failures = 0
    this.#last = null
  }

  /** Why it is not tried now; null when it is time. */
  problemAt(now: number): AppError | null {
    if (this.#last === null || now >= this.#until) return null
    const { code, message, context } = this.#last
    const retryMs = this.#until - now
    return new AppError(code, `${message}. It failed ${this.#failures} times and is tried again in ${retryMs} ms`, {
      ...context,
      retryMs,
    } as never)
  }
}
