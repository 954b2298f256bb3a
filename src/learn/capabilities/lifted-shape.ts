/**
 * The shape that a procedure was lifted from, read from its source: with a literal in each place
 * of a parameter it is the program that ran. So a source that says that it comes from some shape
 * can be held against it.
 */
import { type PlanShape, shapeOfPlan } from '#learn/lessons'
import { type CapabilitySource, type DagTask, isObject, sha256, toText } from '#model'
import { expressionOf } from './anti-unify.ts'
import { type Lifted, templateOf } from './make-capability.ts'

/** Null where it cannot be read. Literals of parameters are empty texts. */
export function shapeOfSource(source: CapabilitySource, lifted: Lifted): PlanShape | null {
  const key = sha256(toText([source, lifted.texts ?? []]))
  if (source.type === 'code') return shapeOfPlan({ kind: 'code', code: unlifted(source.code, lifted) }, key)
  const templates = new Set((lifted.texts ?? []).map(({ pieces }) => templateOf(pieces)))
  const names = new Set(Object.keys(lifted.lifted ?? {}).map((name) => `/${name}`))
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return templates.has(value) ? '' : value
    if (Array.isArray(value)) return value.map(fill)
    if (!isObject(value)) return value
    if (typeof value.$args === 'string' && names.has(value.$args)) return ''
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member)]))
  }
  const tasks = source.tasks.map((task) => ({ ...task, ...(task.arguments && { arguments: fill(task.arguments) }) }))
  return shapeOfPlan({ kind: 'dag', tasks: tasks as DagTask[] }, key)
}

function unlifted(code: string, { lifted = {}, texts = [] }: Lifted): string {
  const expressions = texts.map(({ pieces }) => expressionOf(pieces)).sort((a, b) => b.length - a.length)
  const bare = expressions.reduce((text, expression) => text.replaceAll(expression, "''"), code)
  return bare.replace(/(?<![\p{ID_Continue}$.])args\.([\p{ID_Continue}$]+)/gu, (member, name: string) =>
    Object.hasOwn(lifted, name) ? "''" : member,
  )
}

/** The places of literals that are no parameter, or part of one. */
export function fixedPlaces(count: number, { lifted = {}, texts = [] }: Lifted): number[] {
  const open = new Set([...Object.values(lifted).flat(), ...texts.map(({ at }) => at)])
  return [...Array(count).keys()].filter((at) => !open.has(at))
}
