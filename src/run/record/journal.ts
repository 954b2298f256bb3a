/**
 * What the record says of a run so far, folded into what replay needs: its calls, its deliveries,
 * its open questions.
 */
import {
  AppError,
  type Delivery,
  type Effect,
  type Event,
  type EventBodies,
  type RecordedBody,
  type Stored,
  splitToolId,
  toText,
} from '#model'
import { blobOf } from '#record'
import type { OwnLine } from '#run/policy'
import { nothingSpent, OwnedTime, type Spent, spend } from './budget-spent.ts'
import { parseCallId } from './call-id.ts'

export type RecordedCall = {
  id: string
  tool: string
  args: string
  task?: string
  effect: Effect | null
  /** The digest of the tool or capability, where one was found. */
  definition: string | null
  key?: string
  attempt: number
  /** Its last word: a call is in doubt exactly when that is `sent`. */
  last: 'issued' | 'sent' | 'resolved'
  sentAt: number | null
  /** How long the run had been owned when it was issued. */
  ownedMs: number
  /** Arguments that a human put in place of the program's. */
  edited?: string
  /** The newest question about it, and the answer. */
  asked?: EventBodies['approval.asked']
  answered?: EventBodies['approval.answered']
}

export type Journal = {
  started: EventBodies['run.started']
  startedAt: number
  /** The time of the program's first turn: that of the run which a fork left. */
  beganAt: number
  /** By id, in the order of issue. */
  calls: Map<string, RecordedCall>
  /** Results in the order in which they arrived, each with the program that waits for it. */
  deliveries: { program: string; delivery: Delivery }[]
  logLines: number
  /** Pure operations that are on the record. */
  operations: number
  /** What it used up so far. */
  spent: Spent
  /** Lines of policy that humans wrote for this run. */
  lines: OwnLine[]
  cancelled: EventBodies['cancel.asked'] | null
}

type TextOf = (member: Stored<unknown>) => string

/** `text` turns a member of an event into its exact JSON text, wherever its bytes are. */
export function readJournal(events: Event[], text: TextOf): Journal {
  const first = events[0]
  if (first?.type !== 'run.started') {
    throw new AppError('LEDGER_BROKEN', 'Cannot read the run: its first event is not run.started', {})
  }
  const journal = newJournal(startedOf(first.body, text), Date.parse(first.at))
  const owned = new OwnedTime()
  for (const event of events) {
    owned.see(event)
    fold(journal, event, text, owned.ms)
  }
  journal.spent.wallMs = owned.ms
  return journal
}

function startedOf(body: RecordedBody<'run.started'>, text: TextOf): EventBodies['run.started'] {
  const { plan, args, mocks, forkedFrom, ...rest } = body
  const value = <Value>(member: Stored<Value>): Value => JSON.parse(text(member))
  return {
    ...rest,
    plan: value(plan),
    args: value(args),
    ...(mocks === undefined ? {} : { mocks: value(mocks) }),
    ...(forkedFrom === undefined ? {} : { forkedFrom: value(forkedFrom) }),
  }
}

export function newJournal(started: EventBodies['run.started'], startedAt: number): Journal {
  return {
    started,
    startedAt,
    beganAt: started.forkedFrom?.startedAt === undefined ? startedAt : Date.parse(started.forkedFrom.startedAt),
    calls: new Map(),
    deliveries: [],
    logLines: 0,
    operations: 0,
    spent: { ...nothingSpent },
    lines: [],
    cancelled: null,
  }
}

function fold(journal: Journal, event: Event, text: TextOf, ownedMs: number): void {
  switch (event.type) {
    case 'call.issued':
      journal.spent.calls += 1
      journal.calls.set(event.body.call, issued(event.body, text, ownedMs))
      break
    case 'call.sent': {
      const call = callOf(journal, event.body.call)
      Object.assign(call, { last: 'sent', attempt: event.body.attempt, sentAt: Date.parse(event.at) })
      if (event.body.args !== undefined) call.edited = text(event.body.args)
      if (event.body.effect !== undefined) call.effect = event.body.effect
      break
    }
    case 'call.resolved': {
      callOf(journal, event.body.call).last = 'resolved'
      const { program } = parseCallId(event.body.call)
      const delivery = replayed(event.body, Date.parse(event.body.arrivedAt ?? event.at), text)
      journal.deliveries.push({ program, delivery })
      spend(journal.spent, bytesOf(event.body, delivery), event.body.usage)
      break
    }
    case 'approval.asked': {
      const call = callOf(journal, event.body.call)
      call.asked = event.body
      delete call.answered
      break
    }
    case 'approval.answered': {
      const call = callOf(journal, event.body.call)
      call.answered = event.body
      if (event.body.args !== undefined) call.edited = toText(event.body.args)
      if (event.body.rule !== undefined) journal.lines.push({ rule: event.body.rule, approval: event.body.approval })
      break
    }
    case 'run.logged':
      journal.logLines += event.body.lines.length + (event.body.dropped ?? 0)
      break
    case 'code.traced':
      journal.operations += event.body.operations.length + (event.body.dropped ?? 0)
      break
    case 'cancel.asked':
      journal.cancelled = event.body
      break
    default:
      break
  }
}

function issued(body: RecordedBody<'call.issued'>, text: TextOf, ownedMs: number): RecordedCall {
  return {
    id: body.call,
    tool: body.tool,
    args: text(body.args),
    ...(body.edited === undefined ? {} : { edited: text(body.edited) }),
    ...(body.task === undefined ? {} : { task: body.task }),
    effect: body.effect,
    definition: body.definition,
    ...(body.key === undefined ? {} : { key: body.key }),
    attempt: 0,
    last: 'issued',
    sentAt: null,
    ownedMs,
  }
}

/** Live and replayed, a program gets what stands in the record. */
export function delivery({ call, ok, value, error }: EventBodies['call.resolved'], at: number): Delivery {
  return { call: parseCallId(call).number, ok, text: toText(ok ? (value ?? null) : error), now: at }
}

function replayed({ call, ok, value, error }: RecordedBody<'call.resolved'>, at: number, text: TextOf): Delivery {
  const delivered = ok ? (value === undefined ? 'null' : text(value)) : toText(error)
  return { call: parseCallId(call).number, ok, text: delivered, now: at }
}

/** What was too large for the program stands in the record all the same. */
function bytesOf({ ok, value, error }: RecordedBody<'call.resolved'>, { text }: Delivery): number {
  if (ok) return Buffer.byteLength(text)
  return error?.code === 'RESULT_TOO_LARGE' && value !== undefined ? (blobOf(value)?.bytes ?? 0) : 0
}

function callOf(journal: Journal, id: string): RecordedCall {
  const call = journal.calls.get(id)
  if (call === undefined) {
    throw new AppError('LEDGER_BROKEN', `Cannot read the run: call ${id} has events but was never issued`, { call: id })
  }
  return call
}

/** The servers that a run has sent something to. */
export function serversOf({ calls }: Journal): Set<string> {
  const sent = [...calls.values()].filter(({ attempt }) => attempt > 0)
  return new Set(sent.flatMap(({ tool }) => splitToolId(tool)?.server ?? []))
}
