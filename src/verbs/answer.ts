/** What is said of a run: its status, result, calls and open questions, read from the record and from nowhere else. */
import { type ErrorData, type JsonObject, limits, type RunId, type RunStatus, type Stored, toText } from '#model'
import type { Store } from '#record'
import { answerLogs } from './answer-logs.ts'
import { approvalsOf } from './open-approvals.ts'
import { type CallView, type RunView, viewRun } from './run-view.ts'

/** A run that no process moves just now is `running` to who asked for it, with `interrupted` beside it: it goes on when it is resumed. */
export function answerStatus(status: RunStatus): RunStatus {
  return status === 'interrupted' ? 'running' : status
}

/** The answer of execute, as interface.md §2 has it. */
export function answerOf(store: Store, run: RunId): JsonObject {
  return answerFrom(store, viewRun(store, run))
}

export function answerFrom(store: Store, view: RunView): JsonObject {
  const { row, finished } = view
  const base = {
    status: answerStatus(row.status),
    run: row.run,
    callCount: view.calls.length,
    ms: elapsed(view),
    isolation: view.isolation,
    ...(row.status === 'interrupted' ? { interrupted: true } : {}),
  }
  const { mode } = view.started
  const marked = mode === 'run' ? base : { ...base, mode }
  const logs = some('logs', answerLogs(view.logs))
  const answer = { ...marked, ...detail(store, view), ...callsMember(store, view), ...logs }
  return (finished?.error === undefined
    ? answer
    : { ...answer, error: boundedError(withSafeFate(view, finished.error)) }) as unknown as JsonObject
}

function detail(store: Store, view: RunView): object {
  switch (view.row.status) {
    case 'done':
      return shown(store, view.row.run, view.finished?.result)
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
    .map(({ call, tool, args, edited = args, sentAt }) => ({ call, tool, args: store.value(edited), since: sentAt }))
}

function callsMember(store: Store, view: RunView): object {
  const { plan, mode } = view.started
  const wanted = view.row.status === 'failed' || store.value(plan).kind === 'dag' || mode !== 'run'
  if (!wanted || view.row.status === 'uncertain') return {}
  const calls = view.calls.slice(0, limits.answerCallsMax).map((view) => {
    const { call, task, tool, status, ms = 0, resolved } = view
    const seen = previewOf(store, resolved)
    const named = task === undefined ? {} : { task }
    const given = mode === 'run' ? {} : { args: boundedArguments(store, view) }
    return { call, ...named, tool, ...given, status, ms, preview: seen.text, bytes: seen.bytes }
  })
  return { calls }
}

/** What a dry run would have sent; large arguments as their start and their size. */
function boundedArguments(store: Store, { args, edited = args }: CallView): unknown {
  const { text: preview, bytes } = store.glimpse(edited, limits.previewCharactersMax)
  return preview.length < limits.previewCharactersMax ? store.value(edited) : { preview, bytes }
}

/** The first characters of what a call answered, and the size of all of it. */
function previewOf(store: Store, resolved: CallView['resolved']): { text: string; bytes: number } {
  if (resolved === undefined) return { text: '', bytes: 0 }
  if (resolved.value !== undefined) return store.glimpse(resolved.value, limits.previewCharactersMax)
  const text = toText(resolved.error)
  return { text: text.slice(0, limits.previewCharactersMax), bytes: Buffer.byteLength(text) }
}

/** Small results inline; of a large one a preview, its size, and what to hand to `result`. */
function shown(store: Store, run: string, result: Stored<unknown> | undefined): object {
  if (result === undefined) return { result: null }
  const { text: preview, bytes } = store.glimpse(result, limits.previewCharactersMax)
  return bytes <= limits.inlineResultBytesMax ? { result: store.value(result) } : { preview, bytes, handle: { run } }
}

/** `retry` stands only where nothing but reads was sent: the same request again would repeat the rest. */
function withSafeFate({ calls }: RunView, error: ErrorData): ErrorData {
  if (error.fate !== 'retry') return error
  const hasEffects = calls.some(({ attempts, effect, resolved }) => {
    return attempts > 0 && effect !== 'read' && resolved?.outcome !== 'not_sent'
  })
  return hasEffects ? { ...error, fate: 'give_up' } : error
}

/** Of an error that is too large for an answer, the start of each long part; `run show` has all of it. */
function boundedError(error: ErrorData): ErrorData {
  if (Buffer.byteLength(toText(error)) <= limits.inlineResultBytesMax) return error
  const most = limits.previewCharactersMax
  const context = Object.entries(error.context).map(([name, value]) => {
    const text = toText(value)
    return [name, text.length <= most ? value : { preview: text.slice(0, most), bytes: Buffer.byteLength(text) }]
  })
  const message = error.message.length <= most ? error.message : `${error.message.slice(0, most)}…`
  return { ...error, message, context: Object.fromEntries(context) }
}
