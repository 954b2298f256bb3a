/** How long a run may go on: its budget of time, and its deadline. */
import { AppError, type Budget } from '#model'
import type { Journal } from './journal.ts'
import type { Stop } from './run-end.ts'

type TimeLeft = { ms: number; stop(): Stop }

/** From now, and what ends it then, whichever is nearer. */
export function timeLeft({ started: { budget }, startedAt, spent }: Journal, now: number): TimeLeft {
  const { wallMs, deadlineMs } = budget
  const rest = wallMs - spent.wallMs
  const until = deadlineOf(budget, startedAt) - now
  if (rest <= until) return { ms: rest, stop: () => outOfTime(`its budget of ${wallMs} ms is used up`, { wallMs }) }
  const passed = `its deadline, ${deadlineMs} ms after its start, has passed`
  return { ms: until, stop: () => outOfTime(passed, { deadlineMs }) }
}

export function deadlineOf({ deadlineMs = Number.POSITIVE_INFINITY }: Budget, startedAt: number): number {
  return startedAt + deadlineMs
}

function outOfTime(why: string, context: object): Stop {
  const error = new AppError('BUDGET_EXCEEDED', `Cannot go on with the run: ${why}`, { ...context })
  return { status: 'failed', error }
}
