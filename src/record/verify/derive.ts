/**
 * Folds the events of one run into what the rows beside the record must say of it: status, times,
 * counts, approvals, blobs, secrets.
 */
import type { EventBodies, EventType, RunStatus } from '#model'
import type { ApprovalEnd } from '#record/ledger'
import { suspendedStatus } from '#record/ledger'
import { placeholderPattern } from '#record/secrets'

type Started = EventBodies['run.started']

/** `n` is the event that asked. */
type DerivedApproval = { call: string; n: number; seq: number; answer: ApprovalEnd | null }

/**
 * Kept only while the run is open: a finished run has no rows of these kinds, except of blobs,
 * which are counted.
 */
type OpenFacts = {
  started: Pick<Started, 'seed' | 'forkedFrom'>
  approvals: Map<string, DerivedApproval>
  /** How many of them are unanswered: only then the end of a call can mean something for one. */
  unanswered: number
  /** Placeholders of secrets, with the first event in which each stands. */
  placeholders: Map<string, number>
}

export type Derived = {
  status: RunStatus
  startedAt: number
  callCount: number
  epoch: number
  /** The event that says the epoch. */
  epochN: number
  open: OpenFacts | null
}

const placeholderMark = Buffer.from('«secret:')

export function newDerived(): Derived {
  const started = { seed: '' }
  const open: OpenFacts = { started, approvals: new Map(), unanswered: 0, placeholders: new Map() }
  return { status: 'running', startedAt: 0, callCount: 0, epoch: 1, epochN: 1, open }
}

/**
 * Most events change nothing but a count, so a line is parsed only where its type says more.
 * Returns the body of `run.started`, which has rows of its own, and what is wrong with an event
 * that cannot follow those before it.
 */
export function fold(derived: Derived, type: EventType, n: number, seq: number, line: Buffer): Started | string | null {
  if (derived.open !== null && line.includes(placeholderMark)) notePlaceholders(derived.open, n, line)
  switch (type) {
    case 'call.issued':
      derived.callCount += 1
      return null
    case 'run.started':
      return start(derived, parse(line))
    case 'run.suspended':
      derived.status = suspendedStatus[parse<'run.suspended'>(line).body.why]
      return derived.status === undefined ? 'it does not say why the run was suspended' : null
    case 'run.resumed':
      return resume(derived, n, parse<'run.resumed'>(line).body.epoch)
    case 'run.finished': {
      const { status, callCount } = parse<'run.finished'>(line).body
      Object.assign(derived, { status, callCount })
      return null
    }
    case 'approval.asked':
    case 'approval.answered':
    case 'call.resolved':
      if (derived.open !== null) foldApproval(derived.open, type, n, seq, line)
      return null
    default:
      return null
  }
}

export function notePlaceholders({ placeholders }: OpenFacts, n: number, bytes: Buffer): void {
  if (!bytes.includes(placeholderMark)) return
  for (const [placeholder] of bytes.toString().matchAll(placeholderPattern)) {
    if (!placeholders.has(placeholder)) placeholders.set(placeholder, n)
  }
}

function start(derived: Derived, { at, body }: { at: string; body: Started }): Started {
  const { seed, forkedFrom } = body
  derived.startedAt = Date.parse(at)
  if (derived.open !== null) derived.open.started = forkedFrom === undefined ? { seed } : { seed, forkedFrom }
  return body
}

function resume(derived: Derived, n: number, epoch: number): string | null {
  if (epoch <= derived.epoch) return `its epoch ${epoch} is not above ${derived.epoch}, the one before`
  Object.assign(derived, { status: 'running', epoch, epochN: n })
  return null
}

/**
 * The same rules by which the owner of a chain keeps the rows: an answer ends one approval, the end
 * of a call all that it left open.
 */
function foldApproval(open: OpenFacts, type: EventType, n: number, seq: number, line: Buffer): void {
  const { approvals } = open
  if (type === 'approval.asked') {
    const { approval, call } = parse<'approval.asked'>(line).body
    if (approvals.get(approval)?.answer !== null) open.unanswered += 1
    approvals.set(approval, { call, n, seq, answer: null })
  }
  if (open.unanswered === 0) return
  if (type === 'approval.answered') {
    const { approval, answer } = parse<'approval.answered'>(line).body
    end(open, approvals.get(approval), answer)
  }
  if (type === 'call.resolved') {
    const { call } = parse<'call.resolved'>(line).body
    for (const approval of approvals.values()) if (approval.call === call) end(open, approval, 'cancelled')
  }
}

function end(open: OpenFacts, approval: DerivedApproval | undefined, answer: ApprovalEnd): void {
  if (approval?.answer !== null) return
  approval.answer = answer
  open.unanswered -= 1
}

function parse<Type extends EventType = 'run.started'>(line: Buffer): { at: string; body: EventBodies[Type] } {
  return JSON.parse(line.toString())
}
