/**
 * The flows of one run, exact where its plan is known: a graph names what it takes from where, and
 * of a program the text says which call feeds which argument, held against the values. What
 * neither says is found by the values alone.
 */
import { atPointer, type DagTask, type Json, limits, programTool } from '#model'
import { loadEngine } from '#run'
import { type CallsBySite, callsBySite, placesOf } from './call-sites.ts'
import { flowsOf } from './flows.ts'
import type { Lesson, LessonCall } from './lesson.ts'
import { type CallSite, programCached, type ReadProgram } from './read-program.ts'

const { boundsOf } = await loadEngine()

/** By the plan: as it is (`read`, `bound`) or computed from it; else by the values. */
type FlowMethod = 'read' | 'bound' | 'computed' | 'equal' | 'converted' | 'within'

export type RunFlow = {
  from: { call: string; path: string }
  to: { call: string; path: string }
  how: FlowMethod
  confidence: number
}

const computedConfidence = 0.9

export function flowsOfRun(lesson: Lesson): RunFlow[] {
  const calls = lesson.calls.filter(({ tool }) => tool !== programTool).slice(0, limits.flowCallsMax)
  const programs = Map.groupBy(calls, ({ program }) => program)
  return [...programs].flatMap(([program, own]) => {
    const { plan } = lesson
    if (program === '' && plan.kind === 'dag') return boundFlows(plan.tasks, lesson.calls)
    const code = program === '' && plan.kind === 'code' ? plan.code : null
    const read = code === null ? null : programCached(code)
    return read !== null && 'sites' in read && read.structure.isWhole ? readFlows(read, own) : valueFlows(lesson, own)
  })
}

function valueFlows({ intent }: Lesson, calls: LessonCall[]): RunFlow[] {
  return flowsOf({ intent: intent ?? '', calls })
}

function readFlows(program: ReadProgram, calls: LessonCall[]): RunFlow[] {
  const made = callsBySite(program, calls)
  return program.sites.flatMap((site) => {
    const taken = new Set<string>()
    const own = made.get(site.id) ?? []
    return own.flatMap((call, ordinal) => flowsInto({ program, site, call, ordinal, count: own.length, made, taken }))
  })
}

type Feeding = {
  program: ReadProgram
  site: CallSite
  call: LessonCall
  /** Which of its place's calls it is, of how many. */
  ordinal: number
  count: number
  made: CallsBySite
  /** What earlier calls of its place took: a list is gone through item by item. */
  taken: Set<string>
}

function flowsInto(feeding: Feeding): RunFlow[] {
  const { site, ordinal, count } = feeding
  return site.inputsByPath.flatMap(([path, inputs]) => {
    const sources = inputs.map(({ source }) => source)
    // A function of the program: what it is given where it is called for the n-th time.
    const isInTurn = site.isInFunction && sources.length === count && count > 1
    const meant = isInTurn ? [sources[ordinal]!] : sources
    for (const source of meant) {
      const found = source.kind === 'call' && source.exact ? exactFlow(feeding, path, source) : null
      if (found !== null) return [found]
    }
    return meant.flatMap((source) =>
      source.kind === 'call' && !source.exact ? computedFlows(feeding, path, source) : [],
    )
  })
}

type CallSource = Extract<CallSite['inputs'][number]['source'], { kind: 'call' }>

function exactFlow(feeding: Feeding, path: string, source: CallSource): RunFlow | null {
  const { call, taken } = feeding
  const value = atPointer(call.args, path) as Json | undefined
  const { order } = producersOf(feeding, source)
  const places = order.flatMap((from) => placesOf(from.result, source.path, value).map((at) => ({ from, at })))
  const keyOf = ({ from, at }: (typeof places)[number]) => `${path} ${from.id} ${at}`
  const found = places.find((place) => !taken.has(keyOf(place))) ?? places[0]
  if (found === undefined) return null
  if (source.path.includes('*')) taken.add(keyOf(found))
  return flow(found.from, found.at, call, path, 'read')
}

function computedFlows(feeding: Feeding, path: string, source: CallSource): RunFlow[] {
  const { order, isSameTurn } = producersOf(feeding, source)
  const producers = isSameTurn ? order.slice(0, 1) : order.toReversed()
  return producers.map((from) => flow(from, source.path, feeding.call, path, 'computed'))
}

/** The calls that the source may mean: that of the same turn of a loop first, then the nearest. */
function producersOf({ program, site, call, ordinal, made }: Feeding, { node }: CallSource) {
  const calls = made.get(node) ?? []
  const earlier = calls.filter(({ end, ok }) => ok && end < call.start)
  const producer = program.sites.find(({ id }) => id === node)
  const isSameTurn = producer !== undefined && !site.repeatedBy.isDisjointFrom(producer.repeatedBy)
  const mate = isSameTurn ? calls[ordinal] : undefined
  const order = [...earlier.filter((one) => one === mate), ...earlier.filter((one) => one !== mate).reverse()]
  return { order, isSameTurn }
}

function flow(from: LessonCall, fromPath: string, to: LessonCall, toPath: string, how: FlowMethod): RunFlow {
  const confidence = how === 'computed' ? computedConfidence : 1
  return { from: { call: from.id, path: fromPath }, to: { call: to.id, path: toPath }, how, confidence }
}

/** A graph says itself what it takes from where; of several tries the one that was answered. */
function boundFlows(tasks: DagTask[], calls: LessonCall[]): RunFlow[] {
  const byTask = Map.groupBy(calls, ({ task }) => task ?? '')
  return tasks.flatMap(({ id, arguments: args = {}, forEach }) =>
    (byTask.get(id) ?? []).flatMap((call) =>
      boundsOf(args as Json).flatMap(({ at, $from = forEach?.$from ?? '', path, isText }): RunFlow[] => {
        const from = (byTask.get($from) ?? []).findLast(({ ok, end }) => ok && end < call.start)
        if (from === undefined || (isText && at === '')) return []
        return [flow(from, path, call, at, isText ? 'computed' : 'bound')]
      }),
    ),
  )
}
