/**
 * The shape of a plan: equal for programs that differ in names, formatting, comments and literals,
 * and for graphs that differ in literals. The literals stand beside it, in their order.
 */
import { type Json, LruCache, limits, sha256, toText } from '#model'
import { canonicalOf, loadEngine } from '#run'
import type { LessonPlan } from './lesson.ts'

export type PlanShape = { digest: string; literals: Json[] }

const { preparedCached } = await loadEngine()

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

/** A graph with its tasks numbered; the values of its arguments are holes, bindings are not. */
function graphShape(tasks: Extract<LessonPlan, { kind: 'dag' }>['tasks']): { shape: string; literals: Json[] } {
  const numbers = new Map(tasks.map(({ id }, at) => [id, `#${at + 1}`]))
  const literals: Json[] = []
  const holes = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(holes)
    if (typeof value !== 'object' || value === null) {
      literals.push(value as Json)
      return '?'
    }
    if ('$from' in value) return { ...value, $from: numbers.get(String(value.$from)) ?? value.$from }
    return Object.fromEntries(
      Object.entries(value)
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(([name, member]) => [name, holes(member)]),
    )
  }
  const shape = tasks.map(({ id, arguments: args = {}, dependsOn = [], ...rest }) => {
    const own = Object.entries(rest).sort(([left], [right]) => (left < right ? -1 : 1))
    return [numbers.get(id), holes(args), dependsOn.map((need) => numbers.get(need) ?? need).sort(), own]
  })
  return { shape: toText(shape), literals }
}
