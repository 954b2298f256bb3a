/**
 * What a gateway does beside answering: it goes on with runs whose question was answered or
 * expired, and that have no owner.
 */
import { limits, type RunId, toAppError } from '#model'
import type { RunRow } from '#record'
import type { Parts } from '#verbs/execute'
import { isExpired } from '#verbs/views'

const resting = ['approval_required', 'uncertain', 'interrupted']

/** Looks at once, and from then on until the function that comes back is called. */
export function resumeAnswered({ store, engine }: Parts, log: (line: string) => void): () => void {
  /**
   * The last that was sent to a run when we tried: one that cannot go on is left alone until there
   * is more.
   */
  const tried = new Map<RunId, number>()

  const goOn = (run: RunId) => {
    engine.resume(run, 'gateway').catch((error) => log(`Cannot go on with run ${run}: ${toAppError(error).message}`))
  }
  const isResting = (row: RunRow | undefined) => row !== undefined && resting.includes(row.status)

  const look = () => {
    const waiting = store.runsWithInbox()
    for (const run of tried.keys()) if (!waiting.includes(run)) tried.delete(run)
    for (const run of waiting) {
      const last = store.inbox(run).at(-1)?.id ?? 0
      if (last <= (tried.get(run) ?? 0) || engine.activeRun(run) !== undefined || !isResting(store.run(run))) continue
      tried.set(run, last)
      goOn(run)
    }
  }

  const lookAtClock = () => {
    const expired = store.openApprovals().filter(({ asked }) => isExpired(asked.body))
    for (const run of new Set(expired.map(({ run }) => run))) {
      if (engine.activeRun(run) === undefined && isResting(store.run(run))) goOn(run)
    }
  }

  const clock = setInterval(lookAtClock, limits.expiryLookMs).unref()
  const unsubscribe = store.onChange(look)
  look()
  lookAtClock()
  return () => {
    clearInterval(clock)
    unsubscribe()
  }
}
