/**
 * execute(): a plan or an intent enters; what leaves says how far the run came, and how to go on
 * with it.
 */
import type { Attendant, Catalog } from '#catalog'
import type { Adviser } from '#learn'
import { type Actor, AppError, type Config, isFinished, type Json, type JsonObject, limits, type RunId } from '#model'
import type { RunRow, Store } from '#record'
import type { ActiveRun, AskedRequest, Engine, RunRequest } from '#run'
import { invalid, refuseDeep } from '#verbs/input'
import { withPreview } from '#verbs/preview'
import {
  aboutRun,
  aboutRunNow,
  answerFrom,
  answerOf,
  asksSomethingNew,
  cachedRawAnswer,
  type ErrorAnswer,
  type ExecuteAnswer,
  isExpired,
  notFound,
  type ReplayAnswer,
  type RunAnswer,
  type RunView,
  until,
  viewOf,
  viewRun,
} from '#verbs/views'
import { readInput } from './execute-input.ts'
import { answerIntent, askerOf } from './intent.ts'
import { begunForIntent, earlierHolder, refusalOfOther, scopedKey } from './request-key.ts'
import { suggest } from './suggest.ts'

export { askerOf, suggest }

/** Who asks, and how long they wait: null waits until the run has settled. */
export type Caller = {
  actor: Actor
  /** Who it is, where the gateway tells people apart. */
  subject?: string
  signal?: AbortSignal
  key?: string
  waitMs?: number | null
  /** How long a question to a human holds back the answer. */
  questionMs?: number
  /** Questions that the caller knows: they hold back nothing. */
  seen?: ReadonlySet<string>
  /** The W3C trace context of the request. */
  traceparent?: string
  /** Hears and answers for them while the run is under way. */
  attendant?: Attendant
  /** Told of the run that the request is about, as soon as it has begun. */
  began?: (run: RunId) => void
  /** Of a run that is done, only what the tool itself answered is wanted. */
  wantsRaw?: boolean
}

export type Parts = {
  store: Store
  engine: Engine
  catalog: Catalog
  policy: Config['policy']
  adviser: Adviser
  /** How sure a capability must be to run for an intent alone; null: it never does. */
  minConfidence: number | null
  /** Aborted when this process lets go of everything. */
  leaving: AbortSignal
}

export async function execute(parts: Parts, input: unknown, caller: Caller): Promise<ExecuteAnswer> {
  const request = readInput(input, caller)
  if (request.resume !== null) return resume(parts, request.resume, caller, request.waitMs)
  if (request.plan !== null) return executePlan(parts, { ...request, plan: request.plan }, caller)
  const begun = begunForIntent(parts.store, request, caller)
  if (begun !== null) return resume(parts, begun, caller, request.waitMs)
  const found = await answerIntent(parts, request, caller)
  return 'answer' in found ? found.answer : executePlan(parts, { ...request, ...found.request }, caller)
}

type PlanRequest = Omit<AskedRequest, 'actor'> & { waitMs: number | null }

async function executePlan(parts: Parts, { waitMs, ...request }: PlanRequest, caller: Caller): Promise<ExecuteAnswer> {
  const { traceparent } = caller
  const actor = actorOf(caller)
  const { key } = request
  const scoped = key === undefined ? {} : { key: scopedKey(key, caller) }
  const asked = { ...request, ...scoped, actor, ...(traceparent && { traceparent }) }
  const earlier = key === undefined ? undefined : earlierHolder(parts.store, key, caller)
  const holder = earlier ?? (await startOrHolder(parts, { ...asked, ...liveOf(caller) }))
  if (typeof holder !== 'string') return settle(parts, holder, caller, waitMs)
  const refusal = aboutRunNow(parts.store, holder, () => refusalOfOther(parts, holder, asked))
  if (refusal !== null) throw refusal
  return aboutRun(parts.store, holder, () => resume(parts, holder, caller, waitMs))
}

/** A session that is to begin: its plan, and what narrows it. */
export type Pursuit = { plan: JsonObject; goal: string } & Pick<RunRequest, 'permissions' | 'budget'>

/** A session of the agent: no other way leads to a plan of its kind. */
export async function pursue(parts: Parts, pursuit: Pursuit, caller: Caller): Promise<ExecuteAnswer> {
  const { plan: agent, goal, ...narrowing } = pursuit
  const { traceparent } = caller
  const actor = actorOf(caller)
  const plan = { kind: 'agent', agent } as const
  const request = { plan, intent: goal, args: {}, actor, ...narrowing, ...(traceparent && { traceparent }) }
  return settle(parts, await parts.engine.start({ ...request, ...liveOf(caller) }), caller, caller.waitMs ?? null)
}

/** The run that was started, or the one that has the request's key already. */
async function startOrHolder({ engine, store }: Parts, request: AskedRequest): Promise<ActiveRun | RunId> {
  try {
    return await engine.start(request)
  } catch (error) {
    const isRefused = error instanceof AppError && error.code === 'INVALID_INPUT_PARAM'
    const holder = isRefused && request.key !== undefined ? store.runByKey(request.key) : undefined
    if (holder === undefined) throw error
    return holder
  }
}

/** As it stands on the record: what was learned from a subject stays with it. */
const actorOf = ({ actor, subject }: Caller): Actor => (subject === undefined ? actor : { ...actor, subject })

const liveOf = ({ attendant }: Caller) => (attendant === undefined ? {} : { attendant })

/**
 * Of a finished run its outcome; a run that waits or was interrupted goes on, where no other
 * process owns it.
 */
export function resume(parts: Parts, run: RunId, caller: Caller, waitMs: number | null): Promise<ExecuteAnswer> {
  return aboutRun(parts.store, run, () => resumed(parts, run, caller, waitMs))
}

async function resumed(parts: Parts, run: RunId, caller: Caller, waitMs: number | null): Promise<ExecuteAnswer> {
  const { store, engine } = parts
  const row = store.run(run)
  if (row === undefined) throw notFound(store, run)
  caller.began?.(run)
  if (isFinished(row.status)) return answerOf(store, run)
  const here = engine.activeRun(run)
  if (here !== undefined) return settle(parts, here, caller, waitMs)
  if (row.status === 'running' && row.owner !== store.process) return follow(parts, run, caller, waitMs)
  if (onlyHumansCan(store, row)) return answerOf(store, run)
  try {
    return await settle(parts, await engine.resume(run, caller.actor.name, liveOf(caller)), caller, waitMs)
  } catch (error) {
    if (engine.activeRun(run) !== undefined || !isElsewhere(store, run)) throw error
    return follow(parts, run, caller, waitMs)
  }
}

/** Another process was quicker to go on with it, or to bring it to its end. */
function isElsewhere(store: Store, run: RunId): boolean {
  const row = store.run(run)
  return isFinished(row?.status) || (row?.status === 'running' && row.owner !== store.process)
}

/**
 * True where going on would come to rest at the same questions: nothing was said, and none of them
 * has expired.
 */
function onlyHumansCan(store: Store, { run, status }: RunRow): boolean {
  if ((status !== 'approval_required' && status !== 'uncertain') || store.inbox(run).length > 0) return false
  const asked = viewRun(store, run).calls.flatMap(({ approvals }) => approvals)
  return !asked.some(({ asked, answered }) => answered === undefined && isExpired(asked))
}

/**
 * Another process has the run: we look on until it rests or we have to go, and pass on a cancel.
 */
async function follow(parts: Parts, run: RunId, caller: Caller, waitMs: number | null): Promise<ExecuteAnswer> {
  const { store, leaving } = parts
  const { signal, seen, actor } = caller
  const moves = () => store.run(run)?.status === 'running' && !asksSomethingNew(store, run, seen)
  const over = AbortSignal.any([leaving, ...(signal === undefined ? [] : [signal])])
  await until(store, () => !moves(), { ms: waitMs ?? limits.timeoutMsMax, over })
  const { name: who, kind: from } = actor
  if (signal?.aborted) await store.send(run, 'cancel.asked', { who, from, reason: 'the request was cancelled' })
  return answerOf(store, run)
}

export async function forkRun(
  parts: Parts,
  run: RunId,
  at: number,
  args: Json | undefined,
  caller: Caller,
): Promise<ExecuteAnswer> {
  refuseDeep('args', args)
  const { calls } = viewRun(parts.store, run)
  const most = calls.filter(({ call }) => !call.includes('.')).length
  if (!Number.isInteger(at) || at < 1 || at > most) throw invalid('at', `the run has calls 1 to ${most}`, at)
  return settle(parts, await parts.engine.fork(run, at, args, actorOf(caller)), caller, caller.waitMs ?? null)
}

/** What a fresh program does with the recorded results, against what it did then. */
export async function replayRun({ store, engine }: Parts, run: RunId): Promise<ReplayAnswer> {
  const { finished } = viewRun(store, run)
  const { ok, calls, end, error } = await engine.replay(run)
  const recorded = finished?.result === undefined ? null : store.text(finished.result)
  const same = recorded === null || (end?.ok === true && end.value === recorded)
  if (ok && same) return { ok: true, run, calls }
  const difference =
    error ??
    new AppError('REPLAY_MISMATCH', 'Cannot replay the run: it ends with another result', { recorded, replayed: end })
  return { ok: false, run, calls, error: difference.toJSON() as ErrorAnswer }
}

function settle(parts: Parts, active: ActiveRun, caller: Caller, waitMs: number | null): Promise<ExecuteAnswer> {
  caller.began?.(active.run)
  return aboutRun(parts.store, active.run, () => answerSettled(parts, active, caller, waitMs))
}

async function answerSettled(
  parts: Parts,
  active: ActiveRun,
  caller: Caller,
  waitMs: number | null,
): Promise<ExecuteAnswer> {
  const { store } = parts
  const { name: who, kind: from } = caller.actor
  const cancel = () => active.cancel({ who, from, reason: 'the request was cancelled' })
  if (caller.signal?.aborted) cancel()
  caller.signal?.addEventListener('abort', cancel, { once: true })
  const over = new AbortController()
  const waits = waitMs === null ? [] : [late(waitMs, over.signal), question(store, active, caller, over.signal)]
  let told: AnswerOfView | null = null
  let brief: ExecuteAnswer | null = null
  const tell = (status: RunRow['status']) => {
    brief = caller.wantsRaw ? cachedRawAnswer(store, active, status) : null
    told = brief === null ? answerTold(store, active, status) : null
  }
  active.ended.then(tell).catch(() => {})
  try {
    const settlement = await Promise.race([active.settled, ...waits])
    await active.durable()
    if (isFinished(settlement) && brief !== null) return brief
    const { view, answer } = (isFinished(settlement) && told) || answerRead(store, active.run)
    return await withPreview(parts, answer, view)
  } finally {
    // With a reason: without one, abort() makes an exception, which costs more than all else here.
    over.abort('settled')
    caller.signal?.removeEventListener('abort', cancel)
  }
}

type AnswerOfView = { view: RunView; answer: RunAnswer }

/**
 * What this process wrote itself, and no process adds to any more, need not be read back; it is
 * made while its end reaches the disk.
 */
function answerTold(
  store: Store,
  { run, cachedEvents: told }: ActiveRun,
  status: RunRow['status'],
): AnswerOfView | null {
  const events = told()
  if (events === null) return null
  const view = viewOf({ run, status }, events)
  return { view, answer: answerFrom(store, view) }
}

function answerRead(store: Store, run: RunId): AnswerOfView {
  const view = viewRun(store, run)
  return { view, answer: answerFrom(store, view) }
}

/** Never resolves where it is over before. */
function late(ms: number, over: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  over.addEventListener('abort', () => clearTimeout(timer), { once: true })
  return promise
}

/** Resolves a little after a question that the caller does not know. */
async function question(store: Store, active: ActiveRun, caller: Caller, over: AbortSignal): Promise<void> {
  const { asked, run, durable } = active
  await asked
  await durable()
  await until(store, () => asksSomethingNew(store, run, caller.seen), { over })
  await late(caller.questionMs ?? limits.questionMsMax, over)
}
