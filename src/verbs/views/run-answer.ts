/**
 * What is said of a run: its status, result, calls and open questions, read from the record and
 * from nowhere else.
 */
import {
  type ErrorData,
  isReadOnly,
  type Json,
  limits,
  mayBeInDoubt,
  parseCapabilityId,
  type RunId,
  type RunStatus,
  type Stored,
  toText,
} from '#model'
import type { Store } from '#record'
import { answerLogs } from '#verbs/text'
import type { ErrorAnswer, RunAnswer } from './answers.ts'
import { approvalsOf } from './open-approvals.ts'
import { type CallView, type RunView, viewRun } from './run-view.ts'

/**
 * A run that no process moves just now is `running` to who asked for it, with `interrupted` beside
 * it: it goes on when it is resumed.
 */
export function answerStatus(status: RunStatus): RunStatus {
  return status === 'interrupted' ? 'running' : status
}

/** The answer of execute, as hosts and scripts get it. */
export function answerOf(store: Store, run: RunId): RunAnswer {
  return answerFrom(store, viewRun(store, run))
}

export function answerFrom(store: Store, view: RunView): RunAnswer {
  const { row, finished } = view
  const { mode } = view.started
  const answer = {
    status: answerStatus(row.status),
    run: row.run,
    callCount: view.calls.length,
    ms: elapsed(view),
    isolation: view.isolation,
    ...(row.status === 'interrupted' && { interrupted: true }),
    ...(mode !== 'run' && { mode }),
    ...speculation(view),
    ...detail(store, view),
    ...callsMember(store, view),
    ...some('logs', answerLogs(view.logs)),
    ...(finished?.error !== undefined && { error: boundedError(withSafeFate(view, finished.error)) }),
  }
  // The status of the row decided which members there are: no type can follow that from here.
  return answer as RunAnswer
}

/** What an intent alone recalled says so, also once it was resumed. */
function speculation({ started: { capability, speculated } }: RunView): object {
  const parsed = capability === undefined ? null : parseCapabilityId(capability)
  if (speculated === undefined || parsed === null) return {}
  const { name, version } = parsed
  return { speculated: true, capability: { id: `cap:${name}`, version, confidence: speculated } }
}

/** What only an answer of this status has. */
function detail(store: Store, view: RunView): object {
  const { run, status } = view.row
  const approvals = () => approvalsOf(store, view)
  switch (status) {
    case 'done':
      return shown(store, run, view.finished?.result) satisfies Detail<'done'>
    case 'approval_required':
      return { approvals: approvals() } satisfies Detail<typeof status>
    case 'uncertain':
      return { calls: uncertainCalls(store, view), ...some('approvals', approvals()) } satisfies Detail<typeof status>
    case 'running':
    case 'interrupted':
      return { inFlight: inFlight(view), ...some('approvals', approvals()) } satisfies Detail<'running'>
    default:
      return {}
  }
}

type Detail<Status> = Partial<Extract<RunAnswer, { status: Status }>>

function some<Name extends string, Item>(name: Name, list: Item[]): { [key in Name]?: Item[] } {
  return list.length === 0 ? {} : ({ [name]: list } as { [key in Name]: Item[] })
}

function elapsed({ finished, startedAt, calls }: RunView): number {
  return finished?.ms ?? Math.max(0, Date.parse(calls.at(-1)?.issuedAt ?? startedAt) - Date.parse(startedAt))
}

function inFlight({ calls }: RunView) {
  const open = calls.filter(({ resolved }) => resolved === undefined)
  return open.slice(0, limits.answerCallsMax).map(({ call, tool, status }) => ({ call, tool, status }))
}

function uncertainCalls(store: Store, { calls }: RunView) {
  return calls
    .filter(({ status, effect }) => status === 'sent' && effect !== null && mayBeInDoubt(effect))
    .map(({ call, tool, args, edited = args, sentAt }) => ({
      call,
      tool,
      args: store.value(edited) as Json,
      since: sentAt!,
    }))
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
  const { text: preview, bytes } = store.previewText(edited, limits.previewCharactersMax)
  return preview.length < limits.previewCharactersMax ? store.value(edited) : { preview, bytes }
}

/** The first characters of what a call answered, and the size of all of it. */
function previewOf(store: Store, resolved: CallView['resolved']): { text: string; bytes: number } {
  if (resolved === undefined) return { text: '', bytes: 0 }
  if (resolved.value !== undefined) return store.previewText(resolved.value, limits.previewCharactersMax)
  const text = toText(resolved.error)
  return { text: text.slice(0, limits.previewCharactersMax), bytes: Buffer.byteLength(text) }
}

/** Small results inline; of a large one a preview, its size, and what to hand to `result`. */
function shown(store: Store, run: string, result: Stored<unknown> | undefined) {
  if (result === undefined) return { result: null }
  const { text: preview, bytes } = store.previewText(result, limits.previewCharactersMax)
  return bytes <= limits.inlineResultBytesMax
    ? { result: store.value(result) as Json }
    : { preview, bytes, handle: { run } }
}

/**
 * `retry` stands only where nothing but reads was sent: the same request again would repeat the
 * rest.
 */
function withSafeFate({ calls }: RunView, error: ErrorData): ErrorData {
  if (error.fate !== 'retry') return error
  const hasEffects = calls.some(({ attempts, effect, resolved }) => {
    return attempts > 0 && (effect === null || !isReadOnly(effect)) && resolved?.outcome !== 'not_sent'
  })
  return hasEffects ? { ...error, fate: 'give_up' } : error
}

/**
 * Of an error that is too large for an answer, the start of each long part; `run show` has all of
 * it.
 */
function boundedError(error: ErrorData): ErrorAnswer {
  if (Buffer.byteLength(toText(error)) <= limits.inlineResultBytesMax) return error as ErrorAnswer
  const most = limits.previewCharactersMax
  const context = Object.entries(error.context).map(([name, value]) => {
    const text = toText(value)
    return [name, text.length <= most ? value : { preview: text.slice(0, most), bytes: Buffer.byteLength(text) }]
  })
  const message = error.message.length <= most ? error.message : `${error.message.slice(0, most)}…`
  return { ...error, message, context: Object.fromEntries(context) } as ErrorAnswer
}
