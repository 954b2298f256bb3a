/**
 * The flows of one run, exact where its plan is known: a graph names what it takes from where, and
 * of a program the text says which call feeds which argument, held against the values. What
 * neither says is found by the values alone.
 */
import { atPointer, type DagTask, type Json, LruCache, limits, programTool } from '#model'
import { loadEngine, type Structure, type StructureNode, structureOf } from '#run'
import { flowsOf } from './flows.ts'
import type { Lesson, LessonCall } from './lesson.ts'

const { boundsOf, preparedCached } = await loadEngine()

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
    const structure = code === null ? null : structureCached(code)
    return structure?.known && structure.isWhole ? readFlows(structure, own) : valueFlows(lesson, own)
  })
}

function valueFlows({ intent }: Lesson, calls: LessonCall[]): RunFlow[] {
  return flowsOf({ intent: intent ?? '', calls })
}

const structures = new LruCache<string, Structure>(limits.learnShapesMax)

/** Reading a program costs more than all the rest, and habits repeat their programs. */
export function structureCached(code: string): Structure {
  const structure = structures.get(code) ?? readStructure(code)
  structures.set(code, structure)
  return structure
}

function readStructure(code: string): Structure {
  try {
    return structureOf(preparedCached(code).source)
  } catch (error) {
    return { known: false, why: (error as Error).message }
  }
}

type Site = Extract<StructureNode, { kind: 'call' }>
type Sites = ReadonlyMap<string, LessonCall[]>

function readFlows(structure: Extract<Structure, { known: true }>, calls: LessonCall[]): RunFlow[] {
  const sites = structure.nodes.filter((node): node is Site => node.kind === 'call')
  const made = callsBySite(sites, calls)
  return sites.flatMap((site) =>
    (made.get(site.id) ?? []).flatMap((call, ordinal) => flowsInto(site, call, ordinal, made)),
  )
}

/**
 * Which calls each place in the text made. A place is out of the question where its tool or a
 * literal of its arguments differs; among several that fit, places take their calls in turn.
 */
function callsBySite(sites: Site[], calls: LessonCall[]): Sites {
  const made = new Map<string, LessonCall[]>()
  for (const call of calls) {
    const fit = sites.filter((site) => fits(site, call))
    const least = Math.min(...fit.map(({ id }) => made.get(id)?.length ?? 0))
    const site = fit.find(({ id }) => (made.get(id)?.length ?? 0) === least)
    if (site !== undefined) made.set(site.id, [...(made.get(site.id) ?? []), call])
  }
  return made
}

function fits({ tools, inputs }: Site, { tool, args }: LessonCall): boolean {
  if (tools.length > 0 && !tools.includes(tool)) return false
  const literals = inputs.filter(({ source }) => source.kind === 'literal' && source.exact)
  const byPath = Map.groupBy(literals, ({ path }) => path)
  return [...byPath].every(([path, given]) => {
    const value = atPointer(args, path)
    const isOpen = inputs.some((input) => input.path === path && input.source.kind !== 'literal')
    return isOpen || given.some(({ source }) => source.kind === 'literal' && source.value === value)
  })
}

function flowsInto(site: Site, call: LessonCall, ordinal: number, made: Sites): RunFlow[] {
  return site.inputs.flatMap(({ path, source }): RunFlow[] => {
    if (source.kind !== 'call') return []
    const earlier = (made.get(source.node) ?? []).filter(({ end, ok }) => ok && end < call.start)
    const mate = (made.get(source.node) ?? [])[ordinal]
    // The same turn of a loop or of a list first, then the nearest.
    const order = [...earlier.filter((one) => one === mate), ...earlier.filter((one) => one !== mate).reverse()]
    const value = atPointer(call.args, path) as Json | undefined
    if (!source.exact) return order.slice(0, 1).map((from) => flow(from, source.path, call, path, 'computed'))
    for (const from of order) {
      const found = placeOf(from.result, source.path, value)
      if (found !== null) return [flow(from, found, call, path, 'read')]
    }
    return []
  })
}

function flow(from: LessonCall, fromPath: string, to: LessonCall, toPath: string, how: FlowMethod): RunFlow {
  const confidence = how === 'computed' ? computedConfidence : 1
  return { from: { call: from.id, path: fromPath }, to: { call: to.id, path: toPath }, how, confidence }
}

/** Where a result has the value, at a pointer in which `*` is some member. */
function placeOf(result: Json | undefined, pattern: string, value: Json | undefined): string | null {
  if (result === undefined || value === undefined) return null
  const wanted = JSON.stringify(value)
  const look = (here: Json | undefined, keys: string[], path: string): string | null => {
    const [key, ...rest] = keys
    if (here === undefined) return null
    if (key === undefined) return JSON.stringify(here) === wanted ? path : null
    const names = key === '*' && typeof here === 'object' && here !== null ? Object.keys(here) : [key]
    for (const name of names.slice(0, limits.flowLeavesMax)) {
      const found = look(atPointer(here, `/${name}`) as Json | undefined, rest, `${path}/${name}`)
      if (found !== null) return found
    }
    return null
  }
  return look(result, pattern.split('/').slice(1), '')
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
