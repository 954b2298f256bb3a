/**
 * The edges that one run shows between tools and capabilities: what fed what, what came after what,
 * what called what, and what its plan declared.
 */

import { flowsOfRun, type Lesson, ownCalls, sequenceEdges } from '#learn/lessons'
import { limits } from '#model'
import type { EdgeType } from './edge.ts'
import { type Edge, keyOf } from './knowledge.ts'
import type { Rows } from './rows.ts'

type ObservedEdge = Pick<Edge, 'from' | 'to' | 'type' | 'source' | 'confidence'> & {
  field?: { from: string; to: string }
}
type StoredEdge = Pick<Edge, 'count' | 'confidence' | 'fields'>

export function countEdges(rows: Rows, lesson: Lesson): void {
  const edges = Map.groupBy(edgesOf(lesson), ({ from, to, type, source }) => keyOf(from, to, type, source))
  for (const [key, seen] of edges) rows.update<StoredEdge>('edge', key, (known) => added(known, seen))
}

/** Once a run, however often it shows itself there; the confidence is the mean over runs. */
function added(known: StoredEdge | undefined, seen: ObservedEdge[]): StoredEdge {
  const { count = 0, confidence = 0, fields = [] } = known ?? {}
  const best = Math.max(...seen.map((one) => one.confidence))
  const mean = Math.round(((confidence * count + best) / (count + 1)) * 1e6) / 1e6
  const found = new Map(
    seen.flatMap(({ field }) => (field === undefined ? [] : [[keyOf(field.from, field.to), field]])),
  )
  if (found.size === 0) return { count: count + 1, confidence: mean, ...(fields.length === 0 ? {} : { fields }) }
  const counted = fields.map((field) => {
    return found.delete(keyOf(field.from, field.to)) ? { ...field, count: field.count + 1 } : field
  })
  for (const field of found.values()) counted.push({ ...field, count: 1 })
  return { count: count + 1, confidence: mean, fields: counted.slice(0, limits.edgeFieldsMax) }
}

function edgesOf(lesson: Lesson): ObservedEdge[] {
  const calls = ownCalls(lesson).slice(0, limits.flowCallsMax)
  const tools = new Map(calls.map(({ id, tool }) => [id, tool]))
  const edge = (
    type: EdgeType,
    source: Edge['source'],
    from: string,
    to: string,
    rest: Partial<ObservedEdge> = {},
  ): ObservedEdge[] => {
    const [left, right] = [tools.get(from), tools.get(to)]
    return left === undefined || right === undefined || left === right
      ? []
      : [{ from: left, to: right, type, source, confidence: 1, ...rest }]
  }
  const fed = flowsOfRun(lesson).flatMap(({ from, to, confidence }) => {
    const field = { from: anyItem(from.path), to: anyItem(to.path) }
    return edge('dependency', 'observed', from.call, to.call, { confidence, field })
  })
  const followed = sequenceEdges(calls).flatMap(({ from, to }) => edge('sequence', 'observed', from, to))
  const contained = calls.flatMap(({ id, program }) =>
    tools.get(program)?.startsWith('cap:') ? edge('contains', 'observed', program, id) : [],
  )
  return [...fed, ...declared(lesson, edge), ...followed, ...contained]
}

type MakeEdge = (type: EdgeType, source: Edge['source'], from: string, to: string) => ObservedEdge[]

function declared({ plan, calls }: Lesson, edge: MakeEdge): ObservedEdge[] {
  if (plan.kind !== 'dag') return []
  const byTask = new Map(calls.map(({ task, id }) => [task, id]))
  return plan.tasks.flatMap(({ id, dependsOn = [] }) =>
    dependsOn.flatMap((need) => edge('dependency', 'declared', byTask.get(need) ?? '', byTask.get(id) ?? '')),
  )
}

/** Which item it was does not matter for tools. */
const anyItem = (path: string) => path.replace(/\/\d+(?=\/|$)/g, '/*')
