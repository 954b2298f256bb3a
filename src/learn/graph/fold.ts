/**
 * The fold: one event of the home and the rows so far give the next rows, by nothing but what the
 * record says. So a fold that was interrupted, one made from the start and one that follows the
 * record have the same rows.
 */

import { applyToCapabilities, type Capability, capabilityEvents, hasSecret } from '#learn/capabilities'
import {
  type Lesson,
  type LessonCall,
  type LessonSource,
  lessonOf,
  mayTeach,
  ownCalls,
  type PlanShape,
  shapeOfPlan,
} from '#learn/lessons'
import { AppError, type Event, limits, programTool } from '#model'
import { blobOf, type Store } from '#record'
import { countEdges } from './edges-of-run.ts'
import type { Example, PastRun, Shape, ShapeRun, ToolStats } from './knowledge.ts'
import { keyOf } from './knowledge.ts'
import type { HomeEvent } from './read-ahead.ts'
import type { Rows } from './rows.ts'

/** What of the store a fold reads. */
type FoldedRecord = Pick<Store, 'lines' | 'parse' | 'value'>

export function foldEvent(
  rows: Rows,
  { event, lines }: Pick<HomeEvent, 'event' | 'lines'>,
  record: FoldedRecord,
): void {
  if (event.type === 'run.closed') foldRun(rows, event, lines ?? null, record)
  // Retention keeps what was learned; the rest is the word of a human.
  else if (event.type === 'run.purged' && event.body.from !== 'engine') forgetRun(rows, event.body.run, record)
  if (capabilityEvents.some((type) => type === event.type)) foldCapabilities(rows, event)
}

function foldCapabilities(rows: Rows, event: Event): void {
  const table = new Map(rows.all<Capability>('capability').map(({ key, value }) => [key, value]))
  for (const key of applyToCapabilities(table, event)) rows.put('capability', key, table.get(key)!)
}

function foldRun(rows: Rows, { n, body }: Event<'run.closed'>, lines: string[] | null, record: FoldedRecord): void {
  const lesson = readLesson(body.run, lines, record)
  if (lesson === null || lesson.teaches === 'nothing') return
  const shape = lesson.teaches === 'capability' ? shapeOfPlan(lesson.plan, lesson.planDigest) : null
  const key = shape === null ? null : shapeKey(shape, lesson)
  rows.put('run', lesson.run, pastRun(lesson, n, key))
  countTools(rows, lesson)
  countOperations(rows, lesson)
  countUses(rows, lesson)
  countEdges(rows, lesson)
  for (const call of ownCalls(lesson)) keepExample(rows, lesson, call)
  if (shape !== null && key !== null) addToShape(rows, key, shape, lesson)
}

/** Of a run that was purged before it was folded, or whose chain is broken, nothing is learned. */
function readLesson(run: string, gathered: string[] | null, record: FoldedRecord): Lesson | null {
  try {
    const [first, ...rest] = gathered ?? record.lines(run)
    const started = first === undefined ? null : record.parse(first)
    if (started === null || !mayTeach(started)) return null
    return lessonOf([started, ...rest.map(record.parse)], sourceOf(record))
  } catch (error) {
    if (error instanceof AppError && error.code === 'LEDGER_BROKEN') return null
    throw error
  }
}

export function sourceOf({ value }: Pick<Store, 'value'>): LessonSource {
  return { value, bytes: (member) => blobOf(member)?.bytes ?? 0 }
}

/** Programs of different people are never one, however alike. */
function shapeKey({ digest }: PlanShape, { subject }: Lesson): string {
  return subject === null ? digest : keyOf(digest, subject)
}

function pastRun(lesson: Lesson, n: number, shape: string | null): Omit<PastRun, 'run'> {
  const { at, intent, subject, plan, capability, status, teaches, ms } = lesson
  const failed = ownCalls(lesson).filter(({ code }) => code !== undefined)
  return {
    n,
    at,
    intent,
    subject,
    kind: capability === undefined ? plan.kind : 'capability',
    status,
    teaches: teaches as PastRun['teaches'],
    tools: ownCalls(lesson)
      .map(({ tool }) => tool)
      .slice(0, limits.flowCallsMax),
    ...(failed.length === 0 ? {} : { codes: Object.fromEntries(failed.map(({ tool, code }) => [tool, code!])) }),
    ...(shape === null ? {} : { shape }),
    ms,
  }
}

function countTools(rows: Rows, lesson: Lesson): void {
  const calls = ownCalls(lesson).map(({ tool, ok, code }) => ({ id: tool, ok, code }))
  countPath(rows, calls, new Set(calls.map(({ id }) => id)))
}

/** Pure operations beside the calls: where in the path they stood, and with what. */
function countOperations(rows: Rows, lesson: Lesson): void {
  if (lesson.operations.length === 0) return
  const calls = ownCalls(lesson).map(({ tool, start }) => ({ id: tool, n: start, ok: true }))
  const operations = lesson.operations.map(({ operation, n }) => ({ id: operation, n, ok: true }))
  const path = [...calls, ...operations].sort((left, right) => left.n - right.n)
  countPath(rows, path, new Set(operations.map(({ id }) => id)))
}

type Passed = { id: string; ok: boolean; code?: string | undefined }

/** How those of a path that are `counted` did, where they stood in it, and beside which others. */
function countPath(rows: Rows, path: readonly Passed[], counted: ReadonlySet<string>): void {
  const together = new Set(path.map(({ id }) => id))
  const counts = new Map([...counted].map((id) => [id, rows.get<ToolStats>('tool', id) ?? newStats()]))
  for (const [at, { id, ok, code }] of path.entries()) {
    const stats = counts.get(id)
    if (stats === undefined) continue
    stats.calls += 1
    if (ok) stats.successes += 1
    if (code !== undefined) stats.codes[code] = (stats.codes[code] ?? 0) + 1
    stats.positions[at === 0 ? 'first' : at === path.length - 1 ? 'last' : 'middle'] += 1
  }
  for (const [id, stats] of counts) {
    stats.runs += 1
    let isNew = false
    for (const other of together) {
      if (other === id) continue
      const count = stats.with[other]
      stats.with[other] = (count ?? 0) + 1
      isNew ||= count === undefined
    }
    if (isNew) stats.with = mostFrequent(stats.with, limits.learnWithMax)
    rows.put('tool', id, stats)
  }
}

function newStats(): ToolStats {
  return { runs: 0, calls: 0, successes: 0, codes: {}, positions: { first: 0, middle: 0, last: 0 }, with: {} }
}

function mostFrequent(counts: Record<string, number>, max: number): Record<string, number> {
  if (Object.keys(counts).length <= max) return counts
  const entries = Object.entries(counts)
  entries.sort(([left, a], [right, b]) => b - a || (left < right ? -1 : 1))
  return Object.fromEntries(entries.slice(0, max))
}

function countUses(rows: Rows, { run, at, capability, status, ms, calls }: Lesson): void {
  if (capability !== undefined)
    rows.put('use', keyOf(nameOf(capability), run, ''), { at, success: status === 'done', ms })
  for (const call of calls)
    if (call.tool.startsWith('cap:'))
      rows.put('use', keyOf(nameOf(call.tool), run, call.id), { at, success: call.ok, ms: call.ms })
}

/** `cap:name@2` is `name@2` here. */
const nameOf = (id: string) => id.replace(/^cap:/, '')

/** The first calls of a tool that went well, and are small. */
function keepExample(rows: Rows, { run, subject }: Lesson, { id, tool, args, ok, result }: LessonCall): void {
  if (!ok || result === undefined || tool === programTool) return
  const examples = rows.get<Example[]>('example', tool) ?? []
  if (examples.length >= limits.learnExamplesMax) return
  if (JSON.stringify([args, result]).length > limits.learnExampleCharactersMax) return
  // A placeholder means nothing outside of its run, and says that there was a secret.
  if (hasSecret(args) || hasSecret(result)) return
  rows.put('example', tool, [...examples, { run, call: id, subject, input: args, output: result }])
}

function addToShape(rows: Rows, key: string, { literals }: PlanShape, lesson: Lesson): void {
  const { run, intent, args, ms, status, plan, subject } = lesson
  const entry: ShapeRun = { run, intent: intent!, literals, args, ms, ok: status === 'done' }
  if (JSON.stringify([literals, args]).length > limits.shapeRunCharactersMax) return
  const known = rows.get<Omit<Shape, 'digest'>>('shape', key)
  const tools = [...new Set([...(known?.tools ?? []), ...ownCalls(lesson).map(({ tool }) => tool)])]
  const done = new Set([...(known?.operations ?? []), ...lesson.operations.map(({ operation }) => operation)])
  const operations = done.size === 0 ? {} : { operations: [...done] }
  if (known === undefined) {
    const code = textOf(lesson)
    rows.put('shape', key, { subject, kind: plan.kind, runs: [entry], count: 1, tools, ...operations, code })
    return
  }
  // The oldest half stays for good, the newest follow: both ends of a habit are known.
  const { runs } = known
  const half = limits.shapeRunsMax / 2
  const kept = runs.length < limits.shapeRunsMax ? runs : [...runs.slice(0, half), ...runs.slice(half + 1)]
  rows.put('shape', key, { ...known, ...operations, tools, runs: [...kept, entry], count: known.count + 1 })
}

/** A human's word: what was kept of the run's values goes. */
function forgetRun(rows: Rows, run: string, record: FoldedRecord): void {
  for (const { key, value } of rows.all<Example[]>('example')) {
    const kept = value.filter((example) => example.run !== run)
    if (kept.length === 0) rows.remove('example', key)
    else if (kept.length < value.length) rows.put('example', key, kept)
  }
  for (const { key, value } of rows.all<Shape>('shape')) {
    if (!value.runs.some((one) => one.run === run)) continue
    const left = shapeWithout(value, run, record)
    if (left === null) rows.remove('shape', key)
    else rows.put('shape', key, left)
  }
  rows.remove('run', run)
}

/**
 * The first of its runs is the one whose text it has. Where that one goes, so does the text:
 * another that can still be read stands first then; null where there is none.
 */
function shapeWithout(shape: Shape, run: string, record: FoldedRecord): Shape | null {
  const runs = shape.runs.filter((one) => one.run !== run)
  if (shape.runs[0]!.run !== run) return { ...shape, runs }
  for (const one of runs) {
    const lesson = readLesson(one.run, null, record)
    if (lesson !== null)
      return { ...shape, runs: [one, ...runs.filter((other) => other !== one)], code: textOf(lesson) }
  }
  return null
}

function textOf({ plan }: Lesson): string {
  return plan.kind === 'code' ? plan.code : plan.kind === 'dag' ? JSON.stringify(plan.tasks) : ''
}
