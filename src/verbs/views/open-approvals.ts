/**
 * The approvals that are open, of one run or of all: what is asked, of whom, and where it can be
 * answered.
 */
import type { EventBodies, Json, RunId } from '#model'
import type { Store } from '#record'
import type { Approval } from './answers.ts'
import { canResume, type Gateway, livingGateways } from './gateways.ts'
import type { CallView, RunView } from './run-view.ts'

type ApprovalAsked = EventBodies['approval.asked']

/**
 * The open questions of a run: unanswered in the record or on the way into it, and that have not
 * expired.
 */
export function openQuestions(store: Store, { row, calls }: RunView): { call: CallView; asked: ApprovalAsked }[] {
  const waiting = calls.flatMap((call) =>
    call.approvals.filter(({ answered }) => answered === undefined).map(({ asked }) => ({ call, asked })),
  )
  if (waiting.length === 0) return []
  return waiting.filter(({ asked }) => !isSent(store, row.run, asked) && !isExpired(asked))
}

/** Its answer is on its way into the chain. */
function isSent(store: Store, run: RunId, { approval }: ApprovalAsked): boolean {
  return store.inbox(run).some(({ type, body }) => type === 'approval.answered' && body.approval === approval)
}

export function isExpired({ expiresAt }: Pick<ApprovalAsked, 'expiresAt'>): boolean {
  return Date.parse(expiresAt) <= Date.now()
}

export function approvalsOf(store: Store, view: RunView): Approval[] {
  const open = openQuestions(store, view)
  if (open.length === 0) return []
  const gateway = gatewayFor(livingGateways(store), () => view.started.servers)
  return open.map(({ call, asked }) => approvalLine(store, view.row.run, call, asked, gateway))
}

/**
 * The open questions of all runs, in the order in which they were asked; no run is read for it, and
 * nothing once for each.
 */
export function allApprovals(store: Store): Approval[] {
  const gateways = livingGateways(store)
  const sentTo = new Set(store.runsWithInbox())
  const open = store
    .openApprovals()
    .filter(({ run, asked: { body } }) => !isExpired(body) && !(sentTo.has(run) && isSent(store, run, body)))
  const started = gateways.length < 2 ? new Map() : store.startedEvents([...new Set(open.map(({ run }) => run))])
  return open.map(({ run, asked, issued }) => {
    const gateway = gatewayFor(gateways, () => started.get(run)?.servers ?? {})
    return approvalLine(store, run, issued.body, asked.body, gateway)
  })
}

type Questioned = Pick<CallView, 'call' | 'tool' | 'args' | 'edited' | 'effect'>

function approvalLine(
  store: Store,
  run: RunId,
  call: Questioned,
  asked: ApprovalAsked,
  gateway: Gateway | undefined,
): Approval {
  return {
    id: asked.approval,
    run,
    call: call.call,
    tool: call.tool,
    effect: call.effect,
    args: store.value(call.edited ?? call.args) as Json,
    from: asked.from ?? null,
    why: asked.why,
    expiresAt: asked.expiresAt,
    url: gateway === undefined ? null : `${gateway.url}/approvals/${asked.approval}`,
    command: `metier approve ${asked.approval}${store.homeOption}`,
  }
}

/**
 * The one that can go on with the run; which servers the run has is asked only where there is a
 * choice.
 */
function gatewayFor(gateways: Gateway[], servers: () => Record<string, string>): Gateway | undefined {
  if (gateways.length < 2) return gateways[0]
  const started = servers()
  return gateways.find((each) => canResume(each, started)) ?? gateways[0]
}
