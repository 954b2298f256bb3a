/**
 * One closed run as plain data: its calls with what they were given and gave, when they were under
 * way, what the run was asked for, and whether it may teach more than success rates.
 */
import {
  type DagTask,
  type Event,
  isCapability,
  isObject,
  type Json,
  limits,
  programTool,
  type Stored,
  sessionServers,
  timerTool,
} from '#model'

/** How members of events are opened, which may stand as blobs. */
export type LessonSource = {
  value<Value>(member: Stored<Value>): Value
  /** Of a blob its size; 0 of what stands in its event. */
  bytes(member: Stored<unknown>): number
}

export type LessonCall = {
  id: string
  tool: string
  task?: string
  args: Json
  /** Absent where it failed, and where it is too large to be looked into. */
  result?: Json
  ok: boolean
  /** Of the error it failed with. */
  code?: string
  /** The numbers of its last `call.sent` and of its `call.resolved`: the run's own clock. */
  start: number
  end: number
  ms: number
  definition: string | null
  /** The call whose program issued it; empty for the run's own. */
  program: string
}

/** A pure operation of a program (`code:filter`), at the number of its turn's event. */
type LessonOperation = { operation: string; program: string; n: number }

export type LessonPlan = { kind: 'code'; code: string } | { kind: 'dag'; tasks: DagTask[] } | { kind: 'agent' }

export type Lesson = {
  run: string
  at: string
  intent: string | null
  subject: string | null
  actor: string
  mode: 'run' | 'dry-run' | 'explore'
  plan: LessonPlan
  planDigest: string
  args: Json
  capability?: string
  status: 'done' | 'failed' | 'cancelled'
  result?: Json
  ms: number
  /** In the order in which they were issued; timers are none. */
  calls: LessonCall[]
  operations: LessonOperation[]
  teaches: 'capability' | 'rates' | 'nothing'
}

type Open = { call: LessonCall; isChanged: boolean; isRefused: boolean }

/** Null where the run is not finished, or does not begin as runs do. */
export function lessonOf(events: readonly Event[], source: LessonSource): Lesson | null {
  const [first] = events
  const last = events.at(-1)
  if (first?.type !== 'run.started' || last?.type !== 'run.finished') return null
  const calls = new Map<string, Open>()
  const operations: LessonOperation[] = []
  for (const event of events) readEvent(event, calls, operations, source)
  const { intent, mode, actor, args, capability, forkedFrom } = first.body
  const { source: text, digest, kind } = source.value(first.body.plan)
  const plan = planOf(kind, text)
  const { status, ms, result } = last.body
  const isChanged = forkedFrom !== undefined || [...calls.values()].some((open) => open.isChanged)
  const isOwn = status === 'done' && intent !== null && plan.kind !== 'agent' && !isSingleCall(plan)
  const isReused = capability !== undefined || callsCapabilityOnly(calls)
  const isProven = succeeded(calls, plan) && !(hasUnhandled(events) && hasFailed(calls))
  const teaches = isOwn && !isReused && !isChanged && isProven ? 'capability' : 'rates'
  return {
    run: first.run,
    at: last.at,
    intent,
    subject: actor.subject ?? null,
    actor: actor.kind,
    mode,
    plan,
    planDigest: digest,
    args: source.value(args),
    ...(capability === undefined ? {} : { capability }),
    status,
    ...resultOf(result, source),
    ms,
    calls: [...calls.values()].map(({ call }) => call),
    operations,
    teaches: mayTeach(first) ? teaches : 'nothing',
  }
}

/** Nothing was done in a dry run, and what is executed to be verified is no habit. */
export function mayTeach({ type, body }: Event): boolean {
  return type === 'run.started' && body.mode === 'run' && body.actor.kind !== 'learn'
}

function readEvent(event: Event, calls: Map<string, Open>, operations: LessonOperation[], source: LessonSource): void {
  if (event.type === 'call.issued') {
    const { call: id, tool, task, args, edited, definition } = event.body
    if (tool === timerTool) return
    const call: LessonCall = {
      id,
      tool,
      ...(task === undefined ? {} : { task }),
      args: openedValue(edited ?? args, source) ?? null,
      ok: false,
      start: event.n,
      end: event.n,
      ms: 0,
      definition,
      program: id.includes('.') ? id.slice(0, id.lastIndexOf('.')) : '',
    }
    calls.set(id, { call, isChanged: edited !== undefined, isRefused: false })
  } else if (event.type === 'call.sent') {
    const open = calls.get(event.body.call)
    if (open === undefined) return
    open.call.start = event.n
    if (event.body.args !== undefined) open.isChanged = true
  } else if (event.type === 'call.resolved') {
    const { call, ok, value, error, ms, by, outcome } = event.body
    const open = calls.get(call)
    if (open === undefined) return
    Object.assign(open.call, { ok, ms, end: event.n, ...(ok ? resultOf(value, source) : {}) })
    if (error !== undefined) open.call.code = error.code
    if (outcome === 'settled' || by === 'human' || by === 'mock') open.isChanged = true
    open.isRefused = outcome === 'refused' || (error !== undefined && refusals.has(error.code))
  } else if (event.type === 'call.settled') {
    const open = calls.get(event.body.call)
    if (open !== undefined) open.isChanged = true
  } else if (event.type === 'code.traced') {
    const { operations: names, call: program = '' } = event.body
    for (const operation of names) operations.push({ operation, program, n: event.n })
  }
}

/** A value of which no more is looked at than its size says is worth it. */
function openedValue(member: Stored<unknown> | undefined, source: LessonSource): Json | undefined {
  const bytes = member === undefined ? Number.POSITIVE_INFINITY : source.bytes(member)
  return bytes > limits.learnValueBytesMax ? undefined : (source.value(member!) as Json)
}

function resultOf(member: Stored<unknown> | undefined, source: LessonSource): { result?: Json } {
  const result = openedValue(member, source)
  return result === undefined ? {} : { result }
}

function planOf(kind: 'code' | 'dag' | 'agent', source: unknown): LessonPlan {
  if (kind === 'code') return { kind, code: source as string }
  return kind === 'dag' ? { kind, tasks: source as DagTask[] } : { kind }
}

/** One call for a host or a person (`metier call`, what is exposed or passed through): no habit. */
function isSingleCall(plan: LessonPlan): boolean {
  if (plan.kind !== 'dag' || plan.tasks.length !== 1) return false
  const [task] = plan.tasks
  return task!.id === 'call' && isObject(task!.arguments) && '$literal' in task!.arguments
}

/**
 * Every call that the plan did not catch was answered well. A program that came to its end caught
 * what failed, unless its log has an unhandled rejection; a refused call was not let through, which
 * is no habit either.
 */
function succeeded(calls: ReadonlyMap<string, Open>, plan: LessonPlan): boolean {
  if ([...calls.values()].some(({ isRefused }) => isRefused)) return false
  const own = [...calls.values()].map(({ call }) => call).filter(({ tool }) => tool !== programTool)
  return own.length > 0 && (plan.kind === 'code' || own.every(({ ok, task }) => ok || task === undefined))
}

const refusals = new Set(['PERMISSION_DENIED', 'APPROVAL_DENIED', 'APPROVAL_EXPIRED', 'CANCELLED'])

const hasFailed = (calls: ReadonlyMap<string, Open>) => [...calls.values()].some(({ call }) => !call.ok)

/** An unhandled rejection is a line of the log; a log that was cut may have had one. */
function hasUnhandled(events: readonly Event[]): boolean {
  return events.some(
    ({ type, body }) =>
      type === 'run.logged' &&
      ((body.dropped ?? 0) > 0 || body.lines.some(({ level, text }) => level === 'warn' && text.startsWith(unhandled))),
  )
}

const unhandled = 'Nobody handled a rejection'

/** What was learned and used is a use of it, not another habit that does the same. */
function callsCapabilityOnly(calls: ReadonlyMap<string, Open>): boolean {
  const own = [...calls.values()].filter(({ call }) => call.program === '')
  return own.length === 1 && isCapability(own[0]!.call.tool)
}

/** The model and the workspace of a session are how it works, not what it used. */
const sessionStarts = sessionServers.map((server) => `${server}:`)

/** Calls of tools and capabilities: the engine's own are no tools. */
export function ownCalls({ calls }: Lesson): LessonCall[] {
  return calls.filter(({ tool }) => tool !== programTool && !sessionStarts.some((start) => tool.startsWith(start)))
}
