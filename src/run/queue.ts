/**
 * The seam between a run and whoever makes its calls. A try that is durably on the record is handed over; its outcome comes back.
 *
 * What every driver keeps, in one process or across many:
 * - A try is named by run, call and attempt. Handed over twice, or delivered twice, it is made once while it is under way.
 * - `hand` resolves with exactly one of the three outcomes and never rejects. A maker that is lost before it had the try is `not_sent`;
 *   one that is lost with it is `unknown`, and so is whatever else a driver cannot tell.
 * - Outcomes come in any order, each to the one who handed that try over.
 * - An aborted signal reaches the maker. It asks; the outcome is still what the maker says of it, or `unknown`.
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

export type Queue = {
  hand(work: Work, signal: AbortSignal): Promise<Try>
  leftovers(owner: ProcessId): Promise<void>
}

/** Whoever makes a try: it says itself whether the request left. */
export type Maker = (work: Work, signal: AbortSignal) => Promise<Try>

type Local = { make: Maker; leftovers: Queue['leftovers'] }

/** Everything in this process; what dies, dies with the owner. */
export function openLocalQueue({ make, leftovers }: Local): Queue {
  const under = new Map<string, Promise<Try>>()
  return {
    hand(work, signal) {
      const name = `${work.run} ${work.call} ${work.attempt}`
      const known = under.get(name)
      if (known !== undefined) return known
      if (signal.aborted) return Promise.resolve({ outcome: 'not_sent', error: cancelled(work) })
      const outcome = made(make, work, signal).finally(() => under.delete(name))
      under.set(name, outcome)
      return outcome
    },
    leftovers,
  }
}

/** The catalogue makes the calls; what a dead owner had started, its guard ends. */
export function catalogQueue(catalog: Catalog): Queue {
  return openLocalQueue({
    make: ({ tool, args, call: _, attempt: __, ...work }, signal) => catalog.try(tool, args, { ...work, signal }),
    leftovers: (owner) => catalog.leftoversOf(owner),
  })
}

/** A maker that breaks had the try: what became of it is not known. */
async function made(make: Maker, work: Work, signal: AbortSignal): Promise<Try> {
  try {
    return await make(work, signal)
  } catch (error) {
    return { outcome: 'unknown', error: toAppError(error) }
  }
}

function cancelled({ tool }: Work): AppError {
  return new AppError('CANCELLED', `Cannot call "${tool.id}": it was cancelled before it was sent`, { tool: tool.id })
}
