/**
 * Which calls of a run followed which: the interval order (one ended before the other began),
 * reduced to the edges that do not follow from others. Calls that overlap have none between them.
 */

/** From the last try that was sent to the answer, on one clock. */
type CallInterval = { id: string; start: number; end: number }

export function sequenceEdges(calls: readonly CallInterval[]): { from: string; to: string }[] {
  const byStart = [...calls].sort((a, b) => a.start - b.start || a.end - b.end)
  const edges: { from: string; to: string }[] = []
  for (const later of byStart) {
    // A call follows from another one exactly where no third fits between them.
    let latestStart = Number.NEGATIVE_INFINITY
    for (const call of byStart) if (isBefore(call, later)) latestStart = Math.max(latestStart, call.start)
    for (const call of byStart)
      if (call.end > latestStart && isBefore(call, later)) edges.push({ from: call.id, to: later.id })
  }
  return edges
}

/** Two calls of no length at the same instant are neither before nor after each other. */
const isBefore = (first: CallInterval, second: CallInterval) => first.end <= second.start && first.start < second.end
