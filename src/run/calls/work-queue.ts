/**
 * The seam between a run and the component that makes its calls. A try is handed over, its maker
 * takes what the try needs (a slot of the server, a connection), commits it to the record, and only
 * then sends it; its outcome comes back.
 *
 * What every driver keeps, in one process or across many:
 * - `commit` writes `call.sent`, durably. It is called at most once for a try, when nothing but the
 *   request itself is left to do: what still waits for a slot was not sent, and no human is asked
 *   about it after a crash. Nothing leaves the process before it has resolved to true; after false
 *   nothing leaves at all, and the try is `not_sent`.
 * - A try is named by run, call and attempt. Handed over twice, or delivered twice, it is made once
 *   while it is under way.
 * - `hand` resolves with exactly one of the three outcomes and never rejects. A maker that is lost
 *   before the commit leaves the try `not_sent`; one that is lost after it, `unknown`, and so is
 *   whatever else a driver cannot tell.
 * - Outcomes come in any order, each to the one who handed that try over.
 * - An aborted signal reaches the maker. It asks; the outcome is still what the maker says of it,
 *   or `unknown`.
 * - The true values of secrets are in `args`: what leaves the process is the driver's to seal.
 * - `leftovers` resolves when nothing that a dead owner handed over can have an effect any more.
 */
import type { Attendant, Catalog } from '#catalog'
import { AppError, type Json, type ProcessId, type RunId, type Tool, type Try, toAppError } from '#model'

export type Work = {
  run: RunId
  call: string
  attempt: number
  tool: Tool
  args: Json
  timeoutMs: number
  traceparent?: string
  /** The answer is wanted as it came, too. */
  whole?: boolean
  /** Who is there, for a maker in this process; to others it means nothing. */
  attendant?: Attendant
}

/** Puts the try on the record, durably; false where it must not be sent any more. */
type Commit = () => Promise<boolean>

export type WorkQueue = {
  submit(work: Work, signal: AbortSignal, commit: Commit): Promise<Try>
  leftovers(owner: ProcessId): Promise<void>
}

/** Makes a try, and reports whether the request left. */
export type Maker = (work: Work, signal: AbortSignal, commit: Commit) => Promise<Try>

type Local = { make: Maker; leftovers: WorkQueue['leftovers'] }

/** Everything in this process; what dies, dies with the owner. */
export function openLocalQueue({ make, leftovers }: Local): WorkQueue {
  const under = new Map<string, Promise<Try>>()
  return {
    submit(work, signal, commit) {
      const name = `${work.run} ${work.call} ${work.attempt}`
      const known = under.get(name)
      if (known !== undefined) return known
      if (signal.aborted) return Promise.resolve({ outcome: 'not_sent', error: cancelled(work) })
      const outcome = made(make, work, signal, commit).finally(() => under.delete(name))
      under.set(name, outcome)
      return outcome
    },
    leftovers,
  }
}

/** The catalogue makes the calls; what a dead owner had started, its guard ends. */
export function catalogQueue(catalog: Catalog): WorkQueue {
  return openLocalQueue({
    make: ({ tool, args, ...work }, signal, commit) => catalog.try(tool, args, { ...work, signal, commit }),
    leftovers: (owner) => catalog.endOrphansOf(owner),
  })
}

/**
 * Of a maker that breaks after the commit it is not known what it did; before it, it did nothing.
 */
async function made(make: Maker, work: Work, signal: AbortSignal, commit: Commit): Promise<Try> {
  let isCommitted = false
  try {
    return await make(work, signal, async () => {
      isCommitted = await commit()
      return isCommitted
    })
  } catch (error) {
    return { outcome: isCommitted ? 'unknown' : 'not_sent', error: toAppError(error) }
  }
}

function cancelled({ tool }: Work): AppError {
  return new AppError('CANCELLED', `Cannot call "${tool.id}": it was cancelled before it was sent`, { tool: tool.id })
}
