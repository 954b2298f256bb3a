/**
 * The runs that this process owns or is about to own. close() lets go of them all, and nothing
 * begins after it.
 */
import { AppError, type RunId } from '#model'
import type { ActiveRun } from './engine-parts.ts'

export type OwnedRuns = {
  active: Map<RunId, ActiveRun>
  /** Those that are being started, by the key of their request. */
  starting: Map<string, Promise<ActiveRun>>
  resuming: Map<RunId, Promise<ActiveRun>>
  /** Takes ownership of a run: close() waits for it, so that the run is left in order. */
  enter(take: () => Promise<ActiveRun>): Promise<ActiveRun>
  isClosing(): boolean
  isBusy(): boolean
  close(): Promise<void>
}

export function openOwnedRuns(): OwnedRuns {
  const active = new Map<RunId, ActiveRun>()
  const starting = new Map<string, Promise<ActiveRun>>()
  const resuming = new Map<RunId, Promise<ActiveRun>>()
  const entering = new Set<Promise<ActiveRun>>()
  let closing = false

  async function enter(take: () => Promise<ActiveRun>): Promise<ActiveRun> {
    if (closing) throw leaving()
    const entered = take()
    entering.add(entered)
    return entered.finally(() => entering.delete(entered))
  }

  async function close(): Promise<void> {
    closing = true
    await Promise.allSettled(entering)
    await Promise.allSettled([...active.values()].map((run) => run.leave()))
  }

  const isBusy = () => active.size + entering.size + starting.size + resuming.size > 0
  return { active, starting, resuming, enter, isClosing: () => closing, isBusy, close }
}

function leaving(): AppError {
  return new AppError('UPSTREAM_UNREACHABLE', 'Cannot begin: this process is stopping; try again when it is back')
}
