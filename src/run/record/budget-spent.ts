/**
 * What a run has used up of its budget, over all its owners; time counts only while it had an owner
 * and could move.
 */
import { AppError, type Budget, type Event, type Usage } from '#model'

export type Spent = { calls: number; bytes: number; tokens: number; cost: number; wallMs: number }

export const nothingSpent: Spent = { calls: 0, bytes: 0, tokens: 0, cost: 0, wallMs: 0 }

export function spend(spent: Spent, bytes: number, { tokens = 0, cost = 0 }: Usage = {}): void {
  spent.bytes += bytes
  spent.tokens += tokens
  spent.cost += cost
}

/**
 * The budget that is used up, as an error of the next call; null while there is some of everything.
 */
export function overspent(tool: string, budget: Budget, spent: Spent): AppError | null {
  const { calls, bytes, tokens = Number.POSITIVE_INFINITY, cost = Number.POSITIVE_INFINITY } = budget
  const over = [
    spent.calls > calls && `${calls} calls`,
    spent.bytes > bytes && `${bytes} bytes of results`,
    spent.tokens > tokens && `${tokens} tokens`,
    spent.cost > cost && `${cost} units of cost`,
  ].find((what) => what !== false)
  if (over === undefined) return null
  return new AppError('BUDGET_EXCEEDED', `Cannot call "${tool}": the run's budget of ${over} is used up`, { ...budget })
}

/**
 * Adds up the time from each start or resumption to the suspension or, after a crash, to the last
 * sign of life.
 */
export class OwnedTime {
  #ms = 0
  #since: number | null = null
  #last = 0

  see({ type, at }: Event): void {
    const now = Date.parse(at)
    if (type === 'run.started' || type === 'run.resumed') {
      this.#ms = this.ms
      this.#since = now
    }
    this.#last = now
    if (type !== 'run.suspended') return
    this.#ms = this.ms
    this.#since = null
  }

  get ms(): number {
    return this.#ms + (this.#since === null ? 0 : this.#last - this.#since)
  }
}
