/**
 * Which calls of a run followed which: the interval order (one ended before the other began),
 * reduced to the edges that do not follow from others. Calls that overlap have none between them.
 */

/** From the last try that was sent to the answer, on one clock. */
type CallInterval = { id: string; start: number; end: number }

export function sequenceEdges(calls: readonly CallInterval[]): { from: string; to: string }[] {
  const byStart = [...calls].sort((a, b) => a.start - b.start || a.end - b.end)
  return byStart.flatMap((later) => {
    const before = byStart.filter((call) => call !== later && isBefore(call, later))
    // A call follows from another one exactly where a third fits between them.
    const latestStart = Math.max(...before.map(({ start }) => start))
    return before.filter(({ end }) => end > latestStart).map(({ id }) => ({ from: id, to: later.id }))
  })
}

/** Two calls of no length at the same instant are neither before nor after each other. */
const isBefore = (first: CallInterval, second: CallInterval) => first.end <= second.start && first.start < second.end
