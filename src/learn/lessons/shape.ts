/**
 * The shape of a plan: equal for programs that differ in names, formatting, comments and literals,
 * and for graphs that differ in literals. The literals stand beside it, in their order.
 */
import { isObject, type Json, LruCache, limits, sha256, toText } from '#model'
import { loadEngine, loadStructure } from '#run'
import type { LessonPlan } from './lesson.ts'

export type PlanShape = { digest: string; literals: Json[] }

const { preparedCached } = await loadEngine()
const { canonicalOf } = await loadStructure()

const known = new LruCache<string, PlanShape | 'unknown'>(limits.learnShapesMax)

/** Null where the program cannot be read, or has more literals than is looked at. */
export function shapeOfPlan(plan: LessonPlan, planDigest: string): PlanShape | null {
  if (plan.kind === 'agent') return null
  const key = `${plan.kind} ${planDigest} ${plan.kind === 'code' ? plan.code.length : plan.tasks.length}`
  const found = known.get(key) ?? readShape(plan)
  known.set(key, found)
  return found === 'unknown' ? null : found
}

function readShape(plan: Exclude<LessonPlan, { kind: 'agent' }>): PlanShape | 'unknown' {
  try {
    const { shape, literals } = plan.kind === 'code' ? programShape(plan.code) : graphShape(plan.tasks)
    if (literals.length > limits.shapeLiteralsMax) return 'unknown'
    return { digest: sha256(`${plan.kind} ${shape}`), literals }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return 'unknown'
    throw error
  }
}

function programShape(code: string): { shape: string; literals: Json[] } {
  const { shape, literals } = canonicalOf(preparedCached(code).source)
  return { shape, literals: literals.map(({ value }) => value) }
}

/** What says in a graph where a value comes from: a binding, or a text with one in it. */
export function isBinding(value: unknown): boolean {
  if (typeof value === 'string') return /(?<!\\)\{\{/.test(value)
  return isObject(value) && ['$from', '$item', '$args'].some((name) => Object.hasOwn(value, name))
}

/** A graph with its tasks numbered; the values of its arguments are holes, bindings are not. */
function graphShape(tasks: Extract<LessonPlan, { kind: 'dag' }>['tasks']): { shape: string; literals: Json[] } {
  const numbers = new Map(tasks.map(({ id }, at) => [id, `#${at + 1}`]))
  const numbered = (id: unknown) => numbers.get(String(id)) ?? String(id)
  const literals: Json[] = []
  const bound = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(/\{\{([^}/]*)/g, (_, id: string) => `{{${numbered(id.trim())}`)
    if (Array.isArray(value)) return value.map(bound)
    if (!isObject(value)) return value
    const { $from, ...rest } = value
    return inOrder({ ...rest, ...($from === undefined ? {} : { $from: numbered($from) }) }, bound)
  }
  const holes = (value: unknown): unknown => {
    if (isBinding(value)) return bound(value)
    if (Array.isArray(value)) return value.map(holes)
    if (isObject(value)) return inOrder(value, holes)
    literals.push(value as Json)
    return '?'
  }
  const shape = tasks.map(({ id, arguments: args = {}, dependsOn = [], code, when, forEach, ...rest }) => {
    const own = Object.entries(rest).sort(([left], [right]) => (left < right ? -1 : 1))
    const program = code === undefined ? null : canonicalOf(preparedCached(code).source).text
    const needs = dependsOn.map((need) => numbers.get(need) ?? need).sort()
    return [numbers.get(id), holes(args), needs, program, bound(when ?? null), bound(forEach ?? null), own]
  })
  return { shape: toText(shape), literals }
}

function inOrder(value: object, visit: (member: unknown) => unknown): object {
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, visit(member)]))
}
