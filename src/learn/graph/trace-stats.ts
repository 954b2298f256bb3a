/** How a tool or a pure operation did in past runs, and which of them stand in which capability. */
import type { Knowledge } from './knowledge.ts'

export type TraceStats = {
  runs: number
  calls: number
  historicalSuccessRate: number
  /** In which share of its runs one of the context stood beside it, the mean over the context. */
  cooccurrenceWithContext: number
  /** 0 at the beginning of its runs, 1 at their end. */
  sequencePosition: number
}

/** Null of what no run called. */
export function traceStatsOf(knowledge: Knowledge, id: string, context: Iterable<string>): TraceStats | null {
  const stats = knowledge.tool(id)
  if (stats === undefined) return null
  const { runs, calls, successes, positions } = stats
  const others = [...new Set(context)].filter((other) => other !== id)
  const shares = others.map((other) => Math.min(1, (stats.with[other] ?? 0) / runs))
  const mean = shares.length === 0 ? 0 : shares.reduce((sum, share) => sum + share, 0) / shares.length
  return {
    runs,
    calls,
    historicalSuccessRate: rounded(successes / calls),
    cooccurrenceWithContext: rounded(mean),
    sequencePosition: rounded((positions.middle / 2 + positions.last) / calls),
  }
}

const rounded = (share: number) => Math.round(share * 1000) / 1000

/** By capability, `cap:name@2`: the tools, capabilities and pure operations that it is made of. */
export function incidenceOf(knowledge: Knowledge): Map<string, string[]> {
  const operations = new Map(knowledge.shapes().map(({ digest, operations: own = [] }) => [digest, own]))
  return new Map(
    knowledge.capabilities().map(({ name, version, tools, shape }) => {
      return [`cap:${name}@${version}`, [...Object.keys(tools), ...(operations.get(shape) ?? [])]]
    }),
  )
}
