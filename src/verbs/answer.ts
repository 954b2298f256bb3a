/** What is said of a run: its status, result, calls and open questions, read from the record and from nowhere else. */
import { AppError, type Event, type EventBodies, type JsonObject, limits, type RunId } from '#model'
import type { RunRow, Store } from '#record'
import { type Gateway, knows, livingGateways } from './gateways.ts'

type Asked = EventBodies['approval.asked']

export type CallView = {
  call: string
  task?: string
  tool: string
  args: unknown
  /** What a human or a fork put in place of them. */
  edited?: unknown
  effect: string | null
  status: 'open' | 'sent' | 'asking' | 'done' | 'failed'
  attempts: number
  issuedAt: string
  sentAt?: string
  resolvedAt?: string
  ms?: number
  resolved?: EventBodies['call.resolved']
  approvals: { asked: EventBodies['approval.asked']; answered?: EventBodies['approval.answered'] }[]
}

export type RunView = {
  row: Pick<RunRow, 'run' | 'status'>
  started: EventBodies['run.started']
  startedAt: string
  calls: CallView[]
  finished?: EventBodies['run.finished']
  logs: EventBodies['run.logged']['lines']
  /** Pure operations, each time with how many calls had been issued before. */
  traced: (EventBodies['code.traced'] & { at: string; after: number })[]
  epochs: number
  /** Of whoever moves it now. */
  isolation: EventBodies['run.started']['isolation']
}

export function viewRun(store: Store, run: RunId): RunView {
  const row = store.run(run)
  if (row === undefined) throw notFound(store, run)
  return viewOf(row, store.events(run))
}

export function viewOf(row: RunView['row'], events: Event[]): RunView {
  const { run } = row
  const first = events[0]
  if (first?.type !== 'run.started') throw purged(run)
  const { isolation } = first.body
  const view: RunView = {
    row,
    started: first.body,
    startedAt: first.at,
    calls: [],
    logs: [],
    traced: [],
    epochs: 1,
    isolation,
  }
  const calls = new Map<string, CallView>()
  for (const event of events) fold(view, calls, event)
  return view
}

/** Of a purged run it is known that it was. */
export function notFound(store: Pick<Store, 'isPurged'>, run: RunId): AppError {
  if (store.isPurged(run)) return purged(run)
  return new AppError('RUN_NOT_FOUND', `Cannot find the run "${run}": no such run here; "metier runs" lists them`, {
    run,
  })
}

function purged(run: RunId): AppError {
  return new AppError('RUN_PURGED', `Cannot show the run ${run}: it was purged; only its head and count remain`, {
    run,
  })
}

function fold(view: RunView, calls: Map<string, CallView>, event: Event): void {
  const call = (id: string) => calls.get(id)!
  switch (event.type) {
    case 'call.issued': {
      const { call: id, tool, task, args, edited, effect } = event.body
      const more = { ...(task === undefined ? {} : { task }), ...(edited === undefined ? {} : { edited }) }
      const open = { status: 'open', attempts: 0, issuedAt: event.at } as const
      const issued: CallView = { call: id, ...more, tool, args, effect, ...open, approvals: [] }
      view.calls.push(issued)
      calls.set(id, issued)
      break
    }
    case 'call.sent':
      Object.assign(call(event.body.call), { status: 'sent', attempts: event.body.attempt, sentAt: event.at })
      if (event.body.args !== undefined) call(event.body.call).edited = event.body.args
      break
    case 'call.resolved': {
      const { ok, ms } = event.body
      const status = ok ? 'done' : 'failed'
      Object.assign(call(event.body.call), { status, ms, resolvedAt: event.at, resolved: event.body })
      break
    }
    case 'approval.asked':
      call(event.body.call).status = 'asking'
      call(event.body.call).approvals.push({ asked: event.body })
      break
    case 'approval.answered': {
      const { approvals } = call(event.body.call)
      const asked = approvals.find(({ asked }) => asked.approval === event.body.approval)
      if (asked !== undefined) asked.answered = event.body
      call(event.body.call).status = 'open'
      break
    }
    case 'code.traced':
      view.traced.push({ ...event.body, at: event.at, after: view.calls.length })
      break
    case 'run.logged':
      view.logs.push(...event.body.lines)
      break
    case 'run.resumed':
      view.epochs += 1
      view.isolation = event.body.isolation
      break
    case 'run.finished':
      view.finished = event.body
      break
    default:
      break
  }
}

/** The answer of execute, as interface.md §2 has it. */
export function answerOf(store: Store, run: RunId): JsonObject {
  return answerFrom(store, viewRun(store, run))
}

export function answerFrom(store: Store, view: RunView): JsonObject {
  const { row, finished } = view
  const base = {
    status: row.status,
    run: row.run,
    callCount: view.calls.length,
    ms: elapsed(view),
    isolation: view.isolation,
  }
  const answer = { ...base, ...detail(store, view), ...callsMember(store, view) }
  return (finished?.error === undefined ? answer : { ...answer, error: finished.error }) as unknown as JsonObject
}

function detail(store: Store, view: RunView): object {
  switch (view.row.status) {
    case 'done':
      return shown(store, view.row.run, view.finished?.result ?? null)
    case 'approval_required':
      return { approvals: approvalsOf(store, view) }
    case 'uncertain':
      return { calls: uncertainCalls(store, view), ...some('approvals', approvalsOf(store, view)) }
    case 'running':
    case 'interrupted':
      return { inFlight: inFlight(view), ...some('approvals', approvalsOf(store, view)) }
    default:
      return {}
  }
}

function some(name: string, list: unknown[]): object {
  return list.length === 0 ? {} : { [name]: list }
}

function elapsed({ finished, startedAt, calls }: RunView): number {
  return finished?.ms ?? Math.max(0, Date.parse(calls.at(-1)?.issuedAt ?? startedAt) - Date.parse(startedAt))
}

function inFlight({ calls }: RunView): object[] {
  const open = calls.filter(({ resolved }) => resolved === undefined)
  return open.slice(0, limits.answerCallsMax).map(({ call, tool, status }) => ({ call, tool, status }))
}

function uncertainCalls(store: Store, { calls }: RunView): object[] {
  return calls
    .filter(({ status, effect }) => status === 'sent' && (effect === 'unsafe' || effect?.startsWith('keyed:')))
    .map(({ call, tool, args, edited = args, sentAt }) => ({ call, tool, args: parsed(store, edited), since: sentAt }))
}

/** The questions of a run that nobody has answered, in the record or on the way into it, and that have not expired. */
export function openQuestions(store: Store, { row, calls }: RunView): { call: CallView; asked: Asked }[] {
  const waiting = calls.flatMap((call) =>
    call.approvals.filter(({ answered }) => answered === undefined).map(({ asked }) => ({ call, asked })),
  )
  if (waiting.length === 0) return []
  return waiting.filter(({ asked }) => !isSent(store, row.run, asked) && !isExpired(asked))
}

/** Its answer is on its way into the chain. */
function isSent(store: Store, run: RunId, { approval }: Asked): boolean {
  return store.inbox(run).some(({ type, body }) => type === 'approval.answered' && body.approval === approval)
}

export function isExpired({ expiresAt }: Asked): boolean {
  return Date.parse(expiresAt) <= Date.now()
}

export function approvalsOf(store: Store, view: RunView): object[] {
  const open = openQuestions(store, view)
  if (open.length === 0) return []
  const gateway = gatewayFor(livingGateways(store), () => view.started.servers)
  return open.map(({ call, asked }) => approvalLine(store, view.row.run, call, asked, gateway))
}

/** The open questions of all runs, in the order in which they were asked; no run is read for it, and nothing once for each. */
export function allApprovals(store: Store): object[] {
  const gateways = livingGateways(store)
  const sentTo = new Set(store.runsWithInbox())
  const open = store
    .openApprovals()
    .filter(({ run, asked: { body } }) => !isExpired(body) && !(sentTo.has(run) && isSent(store, run, body)))
  const started = gateways.length < 2 ? new Map() : store.started([...new Set(open.map(({ run }) => run))])
  return open.map(({ run, asked, issued }) => {
    const gateway = gatewayFor(gateways, () => started.get(run)?.servers ?? {})
    return approvalLine(store, run, issued.body, asked.body, gateway)
  })
}

type Questioned = Pick<CallView, 'call' | 'tool' | 'args' | 'edited' | 'effect'>

function approvalLine(store: Store, run: RunId, call: Questioned, asked: Asked, gateway: Gateway | undefined): object {
  return {
    id: asked.approval,
    run,
    call: call.call,
    tool: call.tool,
    effect: call.effect,
    args: parsed(store, call.edited ?? call.args),
    from: asked.from ?? null,
    why: asked.why,
    expiresAt: asked.expiresAt,
    url: gateway === undefined ? null : `${gateway.url}/approvals/${asked.approval}`,
    command: `metier approve ${asked.approval}`,
  }
}

/** The one that can go on with the run; which servers the run has is asked only where there is a choice. */
function gatewayFor(gateways: Gateway[], servers: () => Record<string, string>): Gateway | undefined {
  if (gateways.length < 2) return gateways[0]
  const started = servers()
  return gateways.find((each) => knows(each, started)) ?? gateways[0]
}

function callsMember(store: Store, view: RunView): object {
  const { plan, mode } = view.started
  const wanted = view.row.status === 'failed' || plan.kind === 'dag' || mode !== 'run'
  if (!wanted || view.row.status === 'uncertain') return {}
  const glimpse = (value: unknown) => store.glimpse(value, limits.previewCharactersMax)
  const calls = view.calls.slice(0, limits.answerCallsMax).map(({ call, task, tool, status, ms = 0, resolved }) => {
    const seen = resolved === undefined ? { text: '', bytes: 0 } : glimpse(resolved.value ?? resolved.error ?? null)
    const named = task === undefined ? {} : { task }
    return { call, ...named, tool, status, ms, preview: seen.text, bytes: seen.bytes }
  })
  return { calls }
}

/** Small results inline; of a large one a preview, its size, and what to hand to `result`. */
function shown(store: Store, run: string, result: unknown): object {
  const { text: preview, bytes } = store.glimpse(result, limits.previewCharactersMax)
  return bytes <= limits.inlineResultBytesMax ? { result: parsed(store, result) } : { preview, bytes, handle: { run } }
}

export function parsed(store: Store, member: unknown): unknown {
  return JSON.parse(store.text(member))
}
