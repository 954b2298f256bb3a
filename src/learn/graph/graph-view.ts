/**
 * What was learned as a graph, in two views: of definitions (tools and capabilities, and what they
 * are to each other) and of one run's calls, in the order in which they happened.
 */

import { type Lesson, type LessonCall, ownCalls, sequenceEdges } from '#learn/lessons'
import { edgeWeight } from './edge.ts'
import { alternativeEdges, providesEdges } from './inferred-edges.ts'
import type { Edge, Knowledge } from './knowledge.ts'
import type { Pins } from './pinned-tool.ts'
import { incidenceOf, type TraceStats, traceStatsOf } from './trace-stats.ts'

type ViewNode = {
  id: string
  type: 'tool' | 'capability' | 'operation'
  label: string
  at?: number
  ms?: number
  stats?: TraceStats
}
type ViewEdge = Edge & { weight: number }
export type GraphView = { nodes: ViewNode[]; edges: ViewEdge[] }

const typeOf = (id: string) => (id.startsWith('cap:') ? 'capability' : id.startsWith('code:') ? 'operation' : 'tool')
const weighed = (edge: Edge): ViewEdge => ({ ...edge, weight: edgeWeight(edge.type) })

/** `pins` has the definitions of tools; each node says how it did beside what it is linked to. */
export function definitionView(knowledge: Knowledge, pins: Pins): GraphView {
  const contained = [...incidenceOf(knowledge)].flatMap(([from, parts]) =>
    parts.map((to): Edge => ({ from, to, type: 'contains', source: 'declared', count: 1, confidence: 1 })),
  )
  const seen = knowledge.edges().filter(({ type, from, to }) => type !== 'sequence' && !isDeclared(contained, from, to))
  const called = knowledge.runs.flatMap((run) => run.tools)
  const ids = [...new Set([...called, ...[...seen, ...contained].flatMap(({ from, to }) => [from, to])])]
  const provided = providesEdges(
    knowledge,
    ids.filter((id) => !id.startsWith('code:')),
    pins,
  )
  const edges = [...seen, ...contained, ...provided, ...alternativeEdges(knowledge)].map(weighed)
  const beside = Map.groupBy(
    [...edges, ...knowledge.edges()].flatMap(({ from, to }) => [[from, to] as const, [to, from] as const]),
    ([id]) => id,
  )
  const nodes = ids.sort().map((id): ViewNode => {
    const context = (beside.get(id) ?? []).map(([, other]) => other)
    const stats = traceStatsOf(knowledge, id, context)
    return { id, type: typeOf(id), label: id, ...(stats === null ? {} : { stats }) }
  })
  return { nodes, edges }
}

/** What a capability calls was pinned as it was learned; that it was seen too says no more. */
function isDeclared(contained: readonly Edge[], from: string, to: string): boolean {
  return contained.some((edge) => edge.from === from && edge.to === to)
}

/** One node a call, `fs:read_1`; operations stand at the number of their turn. */
export function invocationView(lesson: Lesson): GraphView {
  const calls = ownCalls(lesson)
  const times = new Map<string, number>()
  const names = new Map(
    calls.map(({ id, tool }) => {
      times.set(tool, (times.get(tool) ?? 0) + 1)
      return [id, `${tool}_${times.get(tool)}`]
    }),
  )
  const nodes = calls.map(({ id, tool, start, ms }): ViewNode => {
    return { id: names.get(id)!, type: typeOf(tool), label: tool, at: start, ms }
  })
  const operations = lesson.operations.map(({ operation, n }, at): ViewNode & { at: number } => {
    return { id: `${operation}_${at + 1}`, type: 'operation', label: operation, at: n }
  })
  const seen = { source: 'observed', count: 1, confidence: 1 } as const
  const followed = sequenceEdges(calls).map(({ from, to }): Edge => {
    return { from: names.get(from)!, to: names.get(to)!, type: 'sequence', ...seen }
  })
  const contained = calls.flatMap(({ id, program }): Edge[] =>
    names.has(program) ? [{ from: names.get(program)!, to: names.get(id)!, type: 'contains', ...seen }] : [],
  )
  const steps = operationSteps(calls, operations, names).map((step): Edge => ({ ...step, type: 'sequence', ...seen }))
  return { nodes: [...nodes, ...operations], edges: [...followed, ...steps, ...contained].map(weighed) }
}

type Operation = { id: string; at: number }

/**
 * Operations between the calls that they follow and those that follow them, in the order of their
 * turns. That order is added to the one of the calls, which is the same with and without them.
 */
function operationSteps(
  calls: readonly LessonCall[],
  operations: readonly Operation[],
  names: ReadonlyMap<string, string>,
) {
  // Operations of one turn have its number: their order in it makes them follow each other.
  const share = 1 / (operations.length + 1)
  const timed = operations.map(({ id, at }, place) => ({
    id,
    start: at + place * share,
    end: at + (place + 0.5) * share,
  }))
  const known = new Set(operations.map(({ id }) => id))
  const named = calls.map(({ id, start, end }) => ({ id: names.get(id)!, start, end }))
  return sequenceEdges([...named, ...timed]).filter(({ from, to }) => known.has(from) || known.has(to))
}
