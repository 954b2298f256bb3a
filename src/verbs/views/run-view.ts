/** A run as its record tells it: calls, approvals, logs and outcome, folded from its events. */
import { AppError, type Effect, type Event, type EventBodies, type RecordedBody, type RunId, type Stored } from '#model'
import type { RunRow, Store } from '#record'

export type CallView = {
  call: string
  task?: string
  tool: string
  args: Stored<unknown>
  /** What a human or a fork put in place of them. */
  edited?: Stored<unknown>
  effect: Effect | null
  status: 'open' | 'sent' | 'asking' | 'done' | 'failed'
  attempts: number
  issuedAt: string
  sentAt?: string
  resolvedAt?: string
  ms?: number
  resolved?: RecordedBody<'call.resolved'>
  approvals: { asked: EventBodies['approval.asked']; answered?: EventBodies['approval.answered'] }[]
}

export type RunView = {
  row: Pick<RunRow, 'run' | 'status'>
  started: RecordedBody<'run.started'>
  startedAt: string
  calls: CallView[]
  finished?: RecordedBody<'run.finished'>
  logs: EventBodies['run.logged']['lines']
  /** Pure operations, each time with how many calls had been issued before. */
  traced: (EventBodies['code.traced'] & { at: string; after: number })[]
  epochs: number
  /** Of the process that moves it now. */
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
      if (event.body.effect !== undefined) call(event.body.call).effect = event.body.effect
      break
    case 'call.resolved': {
      const { ok } = event.body
      // Records of a clock that was put back have negative times.
      const ms = Math.max(0, event.body.ms)
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
      view.finished = { ...event.body, ms: Math.max(0, event.body.ms) }
      break
    default:
      break
  }
}
