/** What humans decide about runs: approvals, and the end of a run. */
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, type EventBodies, isFinished, limits, type RunId } from '#model'
import type { Store } from '#record'
import { type Caller, type Parts, resume } from '#verbs/execute'
import { type Decision, DecisionError } from '#verbs/input'
import { writtenRule } from '#verbs/preview'
import {
  aboutRun,
  answerOf,
  type CallView,
  canResume,
  isExpired,
  livingGateways,
  type MovedAnswer,
  type RunView,
  viewRun,
} from '#verbs/views'
import { checkApproval } from './check-approval.ts'

/**
 * The answer is bound to the digest of the arguments that were asked about. Of several who answer
 * at once the first holds, and the others are told: the question must still be open when the answer
 * is written.
 */
export async function decideApproval(parts: Parts, id: string, decision: Decision, caller: Caller, goOn: boolean) {
  const found = findApproval(parts, id)
  const { run } = found.view.row
  return aboutRun(parts.store, run, () => recordDecision(parts, found, decision, caller, goOn))
}

async function recordDecision(parts: Parts, found: Found, decision: Decision, caller: Caller, goOn: boolean) {
  const { store } = parts
  const { view, call, asked } = found
  const { run } = view.row
  const { scope: _, covers: __, ...answer } = decision
  if (answer.answer === 'approved') await checkApproval(parts, view, call, answer.args)
  const line = writtenRule(decision, view, call, asked, parts.policy)
  const { name: who, kind: from } = caller.actor
  const body: EventBodies['approval.answered'] = {
    approval: asked.approval,
    call: asked.call,
    digest: asked.digest,
    ...answer,
    ...(line === null ? {} : { rule: line.rule }),
    who,
    from,
  }
  await store.send(run, 'approval.answered', body, () => {
    refuseAnswered(store, run, asked)
    return { approval: asked.approval }
  })
  if (line?.scope === 'always') {
    const { rule, permissions } = line
    await store.appendHome('policy.changed', { rule, who, from, approval: asked.approval, permissions })
  }
  const moved = await moveOn(parts, run, caller, goOn)
  return line === null ? moved : { ...moved, line }
}

type Found = { view: RunView; call: CallView; asked: EventBodies['approval.asked'] }

function findApproval({ store }: Parts, id: string): Found {
  const found = store.approval(id)
  if (found === undefined) throw notOpen(id, 'it was answered, its run is over, or it never was')
  const asked = found.asked.body
  refuseAnswered(store, found.run, asked)
  const view = viewRun(store, found.run)
  return { view, call: view.calls.find(({ call }) => call === asked.call)!, asked }
}

function refuseAnswered(store: Store, run: RunId, { approval, expiresAt }: EventBodies['approval.asked']): void {
  const before = answerTo(store, run, approval)
  if (before !== undefined) throw answeredBefore(before)
  if (store.approval(approval)?.answer !== null) throw notOpen(approval, 'its call or its run is over')
  if (!isExpired({ expiresAt })) return
  const message = `Cannot answer the approval ${approval}: nobody did in time, it expired at ${expiresAt}; "metier run resume ${run}" goes on without it`
  throw new DecisionError('question', 'APPROVAL_EXPIRED', message, { approval, run, expiresAt })
}

/** The first answer to a question, from the record or on its way into it. */
function answerTo(store: Store, run: RunId, approval: string): EventBodies['approval.answered'] | undefined {
  const sent = store.inbox(run)
  const recorded = store.events(run, { type: 'approval.answered' })
  return [...recorded, ...sent].flatMap(({ type, body }) =>
    type === 'approval.answered' && body.approval === approval ? [body] : [],
  )[0]
}

function answeredBefore({ approval, answer, who, from }: EventBodies['approval.answered']): AppError {
  return notOpen(approval, `it was ${answer} before, by ${who} (${from})`)
}

function notOpen(id: string, details: string): AppError {
  const message = `Cannot answer the approval "${id}": it is not open, ${details}; "metier approvals" lists what is`
  return new DecisionError('question', 'INVALID_INPUT_PARAM', message, { param: 'id', details, value: id })
}

export async function cancelRun(parts: Parts, run: RunId, caller: Caller, reason?: string): Promise<MovedAnswer> {
  const view = viewRun(parts.store, run)
  if (isFinished(view.row.status)) {
    throw new AppError('INVALID_INPUT_PARAM', `Cannot cancel the run ${run}: it is ${view.row.status} already`, {
      param: 'run',
      details: `it is ${view.row.status}`,
    })
  }
  const said = reason === undefined ? {} : { reason }
  await parts.store.send(run, 'cancel.asked', { who: caller.actor.name, from: caller.actor.kind, ...said })
  return moveOn(parts, run, caller, true)
}

/**
 * After an answer a run without an owner is resumed by a gateway, else here, unless the caller only
 * wanted it recorded.
 */
export async function moveOn(parts: Parts, run: RunId, caller: Caller, goOn: boolean): Promise<MovedAnswer> {
  if (!goOn) return { ...answerOf(parts.store, run), resumed: 'not yet' }
  if (await isTakenUp(parts, run)) return { ...answerOf(parts.store, run), resumed: 'elsewhere' }
  return { ...(await resume(parts, run, caller, caller.waitMs ?? null)), resumed: 'here' }
}

/**
 * True where another process has taken what was sent: the living owner, or a gateway that can go on
 * with the run. Each gets a moment to do so; then the process that answered goes on.
 */
async function isTakenUp({ store, engine }: Parts, run: RunId): Promise<boolean> {
  const { started } = viewRun(store, run)
  for (let round = 0; round < limits.takeUpMsMax / limits.foreignPollMs; round++) {
    if (engine.activeRun(run) !== undefined) return false
    if (store.inbox(run).length === 0) return true
    const others = livingGateways(store).filter((each) => canResume(each, started.servers))
    if (store.run(run)?.status !== 'running' && others.length === 0) return false
    await pause(limits.foreignPollMs)
  }
  return false
}
