/**
 * What was learned as a graph, in two views: of definitions (tools and capabilities, and what they
 * are to each other) and of one run's calls, in the order in which they happened.
 */

import { type Lesson, ownCalls, sequenceEdges } from '#learn/lessons'
import { edgeWeight } from './edge.ts'
import type { Edge, Knowledge } from './knowledge.ts'

type ViewNode = { id: string; type: 'tool' | 'capability' | 'operation'; label: string; at?: number; ms?: number }
type ViewEdge = Edge & { weight: number }
export type GraphView = { nodes: ViewNode[]; edges: ViewEdge[] }

const typeOf = (id: string) => (id.startsWith('cap:') ? 'capability' : id.startsWith('code:') ? 'operation' : 'tool')
const weighed = (edge: Edge): ViewEdge => ({ ...edge, weight: edgeWeight(edge.type) })

export function definitionView(knowledge: Knowledge): GraphView {
  const capabilities = knowledge.capabilities()
  const contained = capabilities.flatMap(({ name, version, tools }) =>
    Object.keys(tools).map((to): Edge => {
      const source = 'declared'
      return { from: `cap:${name}@${version}`, to, type: 'contains', source, count: 1, confidence: 1 }
    }),
  )
  const edges = [...knowledge.edges().filter(({ type }) => type !== 'sequence'), ...contained].map(weighed)
  const tools = knowledge.runs.flatMap((run) => run.tools)
  const ids = [...new Set([...tools, ...edges.flatMap(({ from, to }) => [from, to])])].sort()
  return { nodes: ids.map((id) => ({ id, type: typeOf(id), label: id })), edges }
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
  const operations = lesson.operations.map(({ operation, n }, at): ViewNode => {
    return { id: `${operation}_${at + 1}`, type: 'operation', label: operation, at: n }
  })
  const seen = { source: 'observed', count: 1, confidence: 1 } as const
  const followed = sequenceEdges(calls).map(({ from, to }): Edge => {
    return { from: names.get(from)!, to: names.get(to)!, type: 'sequence', ...seen }
  })
  const contained = calls.flatMap(({ id, program }): Edge[] =>
    names.has(program) ? [{ from: names.get(program)!, to: names.get(id)!, type: 'contains', ...seen }] : [],
  )
  return { nodes: [...nodes, ...operations], edges: [...followed, ...contained].map(weighed) }
}
