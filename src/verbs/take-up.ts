/** What a gateway does beside answering: it goes on with runs that someone answered, or nobody in time, and that no one owns. */
import { limits, type RunId, toAppError } from '#model'
import type { RunRow } from '#record'
import { viewRun } from './answer.ts'
import type { Parts } from './execute.ts'

const resting = ['approval_required', 'uncertain', 'interrupted']

/** Looks at once, and from then on until the function that comes back is called. */
export function takeUp({ store, engine }: Parts, log: (line: string) => void): () => void {
  /** The last that was sent to a run when we tried: one that cannot go on is left alone until there is more. */
  const tried = new Map<RunId, number>()
  const expiries = new Map<RunId, { count: number; at: number }>()

  const goOn = (run: RunId) => {
    engine.resume(run, 'gateway').catch((error) => log(`Cannot go on with run ${run}: ${toAppError(error).message}`))
  }
  const isResting = (row: RunRow | undefined) => row !== undefined && resting.includes(row.status)

  const look = () => {
    const waiting = store.runsWithInbox()
    for (const run of tried.keys()) if (!waiting.includes(run)) tried.delete(run)
    for (const run of waiting) {
      const last = store.inbox(run).at(-1)?.id ?? 0
      if (last <= (tried.get(run) ?? 0) || engine.active(run) !== undefined || !isResting(store.run(run))) continue
      tried.set(run, last)
      goOn(run)
    }
  }

  const lookAtClock = () => {
    for (const row of store.runs()) {
      if (row.status !== 'approval_required' && row.status !== 'uncertain') expiries.delete(row.run)
      else if (expiryOf(row) <= Date.now() && engine.active(row.run) === undefined) goOn(row.run)
    }
  }

  /** A run that has not moved asks what it asked before. */
  const expiryOf = (row: RunRow): number => {
    const known = expiries.get(row.run)
    if (known?.count === row.count) return known.at
    const asked = viewRun(store, row.run).calls.flatMap(({ approvals }) =>
      approvals.filter(({ answered }) => answered === undefined).map(({ asked }) => Date.parse(asked.expiresAt)),
    )
    const at = Math.min(Number.POSITIVE_INFINITY, ...asked)
    expiries.set(row.run, { count: row.count, at })
    return at
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
