/** What humans decide about runs: approvals, calls in doubt, and the end of a run. */
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, type EventBodies, type Json, type JsonObject, limits, type PolicyRule, type RunId } from '#model'
import { answerOf, approvalsOf, parsed, type RunView, viewRun } from './answer.ts'
import { type Caller, type Parts, resume } from './execute.ts'
import { invalid } from './input.ts'

/** `scope` turns a yes into a line of policy for the tool: for the rest of the run, or for good. */
export type Decision = {
  answer: 'approved' | 'denied'
  args?: Json
  reason?: string
  scope?: 'once' | 'run' | 'always'
}
export type Settling = { how: 'done'; value: Json } | { how: 'failed'; text: string } | { how: 'again' }

const finished = ['done', 'failed', 'cancelled']

export function openApprovals({ store }: Parts): JsonObject[] {
  const open = store.runs().filter(({ status }) => !finished.includes(status))
  return open.flatMap(({ run }) => approvalsOf(store, viewRun(store, run))) as JsonObject[]
}

/** The answer is bound to the digest of the arguments that were asked about. */
export async function decideApproval(parts: Parts, id: string, decision: Decision, caller: Caller, goOn: boolean) {
  const { view, asked } = findApproval(parts, id)
  const { scope = 'once', ...answer } = decision
  const rule: PolicyRule = { tool: view.calls.find(({ call }) => call === asked.call)!.tool, then: 'allow' }
  const { name: who, kind: from } = caller.actor
  if (scope === 'always') await parts.store.appendHome('policy.changed', { rule, who, from })
  const body: EventBodies['approval.answered'] = {
    approval: asked.approval,
    call: asked.call,
    digest: asked.digest,
    ...answer,
    ...(scope === 'once' ? {} : { rule }),
    who,
    from,
  }
  await parts.store.send(view.row.run, 'approval.answered', body)
  return moveOn(parts, view.row.run, caller, goOn)
}

function findApproval({ store }: Parts, id: string): { view: RunView; asked: EventBodies['approval.asked'] } {
  for (const { run, status } of store.runs()) {
    if (finished.includes(status)) continue
    const view = viewRun(store, run)
    const found = view.calls.flatMap(({ approvals }) => approvals).find(({ asked }) => asked.approval === id)
    if (found?.answered !== undefined) throw invalid('id', `it was ${found.answered.answer} before`, id)
    if (found !== undefined) return { view, asked: found.asked }
  }
  throw invalid('id', 'no open approval has it; "metier approvals" lists them', id)
}

export async function settleCall(
  parts: Parts,
  run: RunId,
  call: string,
  settling: Settling,
  caller: Caller,
  goOn: boolean,
) {
  const view = viewRun(parts.store, run)
  const found = view.calls.find((candidate) => candidate.call === call)
  if (found?.status !== 'sent' || view.row.status === 'running') {
    throw invalid('call', `call ${call} of this run is not in doubt`, call)
  }
  const { name: who, kind: from } = caller.actor
  await parts.store.send(run, 'call.settled', { call, ...settling, who, from })
  return moveOn(parts, run, caller, goOn)
}

export async function cancelRun(parts: Parts, run: RunId, caller: Caller, reason?: string): Promise<JsonObject> {
  const view = viewRun(parts.store, run)
  if (finished.includes(view.row.status)) {
    throw new AppError('INVALID_INPUT_PARAM', `Cannot cancel the run ${run}: it is ${view.row.status} already`, {
      param: 'run',
      details: `it is ${view.row.status}`,
    })
  }
  const said = reason === undefined ? {} : { reason }
  await parts.store.send(run, 'cancel.asked', { who: caller.actor.name, from: caller.actor.kind, ...said })
  return moveOn(parts, run, caller, true)
}

/** After an answer a run without an owner is resumed here, unless the caller only wanted it recorded. */
async function moveOn(parts: Parts, run: RunId, caller: Caller, goOn: boolean): Promise<JsonObject> {
  if (!goOn) return answerOf(parts.store, run)
  await ownerSaw(parts, run)
  return resume(parts, run, caller, caller.waitMs ?? null)
}

/** An owner that is alive takes the answer up, or is just letting go of the run: a moment shows which. */
async function ownerSaw({ store, engine }: Parts, run: RunId): Promise<void> {
  const before = store.run(run)?.count
  for (let round = 0; round < 20; round++) {
    const row = store.run(run)
    if (row?.status !== 'running' || row.count !== before || engine.active(run) !== undefined) return
    await pause(limits.foreignPollMs)
  }
}

/** `run show`: the plan and every call with arguments, value, times and approvals. */
export function showRun({ store }: Parts, run: RunId): JsonObject {
  const view = viewRun(store, run)
  const { row, started, finished: end, logs, startedAt } = view
  const calls = view.calls.map(({ args, resolved, ...call }) => ({
    ...call,
    args: parsed(store, args),
    ...(resolved === undefined ? {} : { outcome: resolved.outcome, by: resolved.by }),
    ...(resolved?.value === undefined ? {} : { value: parsed(store, resolved.value) }),
    ...(resolved?.error === undefined ? {} : { error: resolved.error }),
  }))
  const { intent, actor, permissions, budget, isolation, engine } = started
  const head = {
    run,
    status: row.status,
    intent,
    startedAt,
    callCount: calls.length,
    actor,
    permissions,
    budget,
    engine,
    isolation,
  }
  const plan = parsed(store, started.plan)
  const outcome =
    end === undefined
      ? {}
      : { ms: end.ms, ...('result' in end ? { result: parsed(store, end.result) } : { error: end.error }) }
  return { ...head, plan, args: parsed(store, started.args), calls, logs, ...outcome } as unknown as JsonObject
}
