/**
 * Edges that no single run shows: what could feed what, by what tools take and give, confirmed or
 * refuted by what flowed; and what served the same intents in place of each other.
 */
import { coverageOf, fittingFields } from '#learn/fields'
import { isValueLike, specificityOf, stemsOf } from '#learn/text'
import { limits } from '#model'
import { type Edge, type Knowledge, keyOf, type PastRun } from './knowledge.ts'
import { type KnownShape, knownShape } from './known-shapes.ts'
import type { Pins } from './pinned-tool.ts'

/** What schemas say counts as much as so many runs. */
const schemaRuns = 2
const confidenceMin = 0.4

export function providesEdges(knowledge: Knowledge, ids: readonly string[], pins: Pins): Edge[] {
  const callsOf = (id: string) => knowledge.tool(id)?.calls ?? 0
  const most = ids.toSorted((left, right) => callsOf(right) - callsOf(left) || (left < right ? -1 : 1))
  const shapes = most.slice(0, limits.providesToolsMax).map((id) => knownShape(id, knowledge, pins))
  const fields = shapes.flatMap(({ inputs, outputs }) => [...inputs, ...outputs])
  const specificity = specificityOf(fields.map(({ name, description }) => stemsOf(`${name} ${description}`)))
  const flowed = new Map(
    knowledge.edges().flatMap((edge) => (isFlow(edge) ? [[keyOf(edge.from, edge.to), edge] as const] : [])),
  )
  return shapes.flatMap((producer) =>
    shapes.flatMap((consumer) => {
      if (producer === consumer || producer.outputs.length === 0) return []
      const seen = flowed.get(keyOf(producer.id, consumer.id))?.fields ?? []
      const fitting = fittingFields(producer, consumer, specificity)
      const together = knowledge.tool(consumer.id)?.with[producer.id] ?? 0
      return judged(producer, consumer, { fitting, seen, together }) ?? []
    }),
  )
}

const isFlow = ({ type, source }: Edge) => type === 'dependency' && source === 'observed'

type Evidence = {
  fitting: { output: string; input: string; share: number }[]
  seen: NonNullable<Edge['fields']>
  /** In how many runs both were called. */
  together: number
}

function judged(producer: KnownShape, consumer: KnownShape, { fitting, seen, together }: Evidence): Edge | null {
  const places = new Map<string, { from: string; to: string; share: number; count: number }>()
  for (const { output, input, share } of fitting) {
    const [from, to] = [producer.places.get(output)!, `/${input}`]
    places.set(keyOf(from, to), { from, to, share, count: 0 })
  }
  for (const { from, to, count } of seen) {
    const inside = /^\/[^/]+/.exec(to)?.[0] ?? to
    const known = places.get(keyOf(from, inside))
    places.set(keyOf(from, inside), {
      from,
      to: inside,
      share: known?.share ?? 0.5,
      count: (known?.count ?? 0) + count,
    })
  }
  const fields = [...places.values()]
    .map(({ from, to, share, count }) => {
      const tries = Math.max(together, count)
      return { from, to, count, confidence: (schemaRuns * share + count) / (schemaRuns + tries) }
    })
    .filter(({ count, confidence }) => count > 0 || confidence >= confidenceMin)
  if (fields.length === 0) return null
  const count = Math.max(...fields.map((field) => field.count))
  const confidence = Math.round(Math.max(...fields.map((field) => field.confidence)) * 1000) / 1000
  return {
    from: producer.id,
    to: consumer.id,
    type: 'provides',
    source: count > 0 ? 'observed' : 'inferred',
    count,
    confidence,
    coverage: coverageOf(
      consumer,
      fields.map(({ to }) => ({ to: to.slice(1) })),
    ),
    fields: fields.slice(0, limits.edgeFieldsMax).map(({ from, to, count: times }) => ({ from, to, count: times })),
  }
}

/**
 * Two runs for the same intent that differ in one tool each: one stands for the other. Also where
 * one of them failed; of one subject at a time.
 */
export function alternativeEdges(knowledge: Knowledge): Edge[] {
  const counts = new Map<string, number>()
  const contained = new Map(
    knowledge.capabilities().map(({ name, version, tools }) => [`cap:${name}@${version}`, tools]),
  )
  for (const runs of Map.groupBy(knowledge.runs, intentKey).values()) {
    for (const [left, right, count] of differingIn(toolSets(runs))) {
      const isInside = contained.get(left)?.[right] !== undefined || contained.get(right)?.[left] !== undefined
      if (!isInside) counts.set(keyOf(left, right), (counts.get(keyOf(left, right)) ?? 0) + count)
    }
  }
  return [...counts].map(([key, count]): Edge => {
    const [from, to] = key.split('\0') as [string, string]
    return {
      from,
      to,
      type: 'alternative',
      source: 'observed',
      count,
      confidence: Math.round((1000 * count) / (count + 1)) / 1000,
    }
  })
}

/** The words of an intent without its values; runs without an intent say nothing. */
function intentKey({ run, intent, subject }: PastRun): string {
  const words = (intent ?? '').split(/\s+/).filter((word) => !isValueLike(word) && !/\d|^["'“«].*["'”»]$/.test(word))
  const stems = [...new Set(stemsOf(words.join(' ')))].sort()
  return stems.length === 0 ? run : keyOf(subject ?? '', ...stems)
}

type ToolSet = { tools: Set<string>; count: number }

function toolSets(runs: readonly PastRun[]): ToolSet[] {
  const sets = new Map<string, ToolSet>()
  for (const { tools } of runs) {
    const own = new Set(tools)
    const key = [...own].sort().join('\0')
    sets.set(key, { tools: own, count: (sets.get(key)?.count ?? 0) + 1 })
  }
  const most = [...sets.values()].filter(({ tools }) => tools.size > 0).sort((left, right) => right.count - left.count)
  return most.slice(0, limits.alternativeSetsMax)
}

function differingIn(sets: readonly ToolSet[]): [left: string, right: string, count: number][] {
  return sets.flatMap((one, at) =>
    sets.slice(at + 1).flatMap((other): [string, string, number][] => {
      const [left, right] = [one.tools.difference(other.tools), other.tools.difference(one.tools)]
      if (left.size !== 1 || right.size !== 1) return []
      const [first, second] = [...left, ...right].sort() as [string, string]
      return [[first, second, Math.min(one.count, other.count)]]
    }),
  )
}
