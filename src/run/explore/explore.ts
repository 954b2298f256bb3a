/**
 * Explores the branches of a plan: its program runs again and again with other arguments and other
 * results, chosen to turn the conditions it met. A plan's structure and a way to run it enter, the
 * paths that were found leave. Calls no tool and records nothing; the same plan is always explored
 * in the same order. Gives up at bounds on paths, attempts and calls.
 */
import { type Json, limits, type Tool, toText } from '#model'
import type { StructureNode } from '#run/structure'
import { type Attempt, furtherAttempts } from './attempts.ts'
import { Coverage } from './coverage.ts'
import { type Exploration, type PathReport, pathReport, reportOf } from './path-report.ts'
import { type PathRun, type PathWorld, runPath } from './run-path.ts'

export { conditionNodes, withConditionArms } from './graph-conditions.ts'
export type { Exploration, GraphEdge, GraphNode } from './path-report.ts'
export type { Assumptions, PathResult, ToolCall } from './run-path.ts'

type ExploreInput = PathWorld & {
  args: Json
  maxBranches: number
  toolOf(id: string): Promise<Tool | undefined>
  /** The nodes of a program by its code; null is the plan itself. */
  structureOf(code: string | null): StructureNode[]
  /** Whether the structure of every program so far is known as a whole. */
  isRead(): boolean
  /** Adds the arms of a graph's own conditions, which no program logs. */
  withArms(run: PathRun): PathRun
}

/** Breadth first, but what may lead into an arm that no path took yet goes before all others. */
export async function explore(input: ExploreInput): Promise<Exploration> {
  const { maxBranches, args } = input
  const first: Attempt = { assumed: { args, calls: new Map() }, varied: new Set() }
  const [urgent, others]: [Attempt[], Attempt[]] = [[first], []]
  const paths = new Set<string>()
  const queued = new Set<string>()
  const coverage = new Coverage()
  const reports: PathReport[] = []
  let attempts = 0
  while (reports.length < maxBranches && attempts < maxBranches * limits.exploreTriesPerBranch) {
    const next = urgent.shift() ?? others.shift()
    if (next === undefined) break
    attempts += 1
    const run = input.withArms(await runPath(input, next.assumed))
    const key = pathKey(run)
    const isNew = !paths.has(key)
    if (isNew) reports.push(pathReport(input, run, next.assumed))
    paths.add(key)
    coverage.add(run)
    for (const { attempt, isOpen } of await furtherAttempts(input, next, run, coverage)) {
      const text = toText([attempt.assumed.args, [...attempt.assumed.calls]])
      if (queued.has(text)) continue
      queued.add(text)
      const queue = isNew || isOpen ? urgent : others
      queue.push(attempt)
    }
  }
  const uncovered = coverage.uncovered(input.structureOf)
  return reportOf(reports, uncovered, urgent.length + others.length === 0 && input.isRead())
}

/**
 * Two runs are one path when they take the same arms, call the same tools in the same order, and
 * end alike.
 */
function pathKey({ steps, end }: PathRun): string {
  const keys = steps.map((step) => ('arm' in step ? armKey(step.arm) : step.calls.map(({ tool }) => tool).join('+')))
  return toText([keys, end.ok ? 'ok' : end.error.code])
}

const armKey = ({ program, id, arm }: { program: string; id: string; arm: string }) => `${program} ${id} ${arm}`
