/** What the main thread asks of the writer, as plain data, and what it hears back. */
import type { ErrorData, EventBodies, EventType, InboxType, RunStatus } from '#model'
import type { Owned } from './head.ts'
import type { BlobBytes } from './line.ts'

/** Events of one chain, a column each: a thousand strings cross to the writer far sooner than a thousand objects. */
export type Entries = { types: EventType[]; ats: number[]; bodies: string[]; blobs: BlobBytes[]; made?: Made | null }
/** Lines and hashes of the first of them, good if the chain's last hash is still this one. */
export type Made = { from: string; lines: string[]; hashes: string[] }
export type SealedRow = { placeholder: string; server: string; box: Uint8Array }
/** For the index of approvals: one was asked for with event `n`, or it ended. */
export type ApprovalChange = { approval: string; n: number } | { approval: string; answer: ApprovalEnd }
/** A call that ends unanswered takes its approval along. */
export type ApprovalEnd = EventBodies['approval.answered']['answer'] | 'cancelled'

/** Everything that one chain wants committed together. */
export type ChainWrite = {
  kind: 'chain'
  run: string
  epoch: number
  /** How many events the chain must have before these: so none is ever left out in the middle. */
  after: number
  entries: Entries
  opens: { key: string | null; intent: string | null } | null
  consumed: number[]
  sealed: SealedRow[]
  approvals: ApprovalChange[]
  /** Given up by its owner: suspended or finished. */
  leaves: { status: RunStatus; callCount: number | null } | null
}

/**
 * What must still be so for an entry of the inbox: the approval is open, or the chain has so many events. `last` is the
 * newest entry that the sender has seen.
 */
export type Expected = { approval: string } | { count: number }

export type Ask =
  | ChainWrite
  | { kind: 'home'; entries: Entries }
  | { kind: 'send'; run: string; type: InboxType; box: Uint8Array; expected?: Expected & { last: number } }
  | { kind: 'take'; run: string; owner: string | null; epoch: number }
  | { kind: 'purge'; run: string; at: number; by: { who: string; from: string } }
  | { kind: 'checkpoint'; at: number }

export type Request = { id: number; ask: Ask }
/** The number alone where there is nothing to say but that it is done. */
export type Ack = number | { id: number; value?: unknown; error?: ErrorData }

/**
 * `early` are asks that are committed with the next list: both threads work at once. The heads of the runs that we own come with the
 * right to write, and go back with it, after the `last` asks. Whoever wrote without the thread has it tend the log now and then.
 */
export type Message = Packed[] | { early: Packed[] } | { last: Packed[] } | { owned: Owned } | Part | 'tend' | 'close'
export type Reply = Ack[] | Returned | 'checkpoint is due'
export type Returned = { acks: Ack[]; owned: Owned }

export type WriterData = { home: string; process: string }

type Rest = Pick<ChainWrite, 'opens' | 'consumed' | 'sealed' | 'approvals' | 'leaves'> & { blobs: BlobBytes[] }

/** The first events of a long write, sent ahead while the rest is still being made: both threads work at once. */
export type Part = { run: string; epoch: number; after: number; types: EventType[]; ats: number[]; bodies: string[] }

/** Most of what crosses is a few events of a run: named members, cloned each time, would cost more than the events. */
export type Packed =
  | Request
  | [id: number, run: string, epoch: number, after: number, type: EventType, at: number, body: string]
  | [
      id: number,
      run: string,
      epoch: number,
      after: number,
      types: EventType[],
      ats: number[],
      bodies: string[],
      rest: Rest | null,
    ]

export function pack(request: Request): Packed {
  const { id, ask } = request
  if (ask.kind !== 'chain') return request
  const { run, epoch, after, entries, opens, consumed, sealed, approvals, leaves } = ask
  const { types, ats, bodies, blobs } = entries
  const isBare =
    opens === null && leaves === null && consumed.length + sealed.length + approvals.length + blobs.length === 0
  if (isBare && types.length === 1) return [id, run, epoch, after, types[0]!, ats[0]!, bodies[0]!]
  const rest = isBare ? null : { opens, consumed, sealed, approvals, leaves, blobs }
  return [id, run, epoch, after, types, ats, bodies, rest]
}

const nothingElse: Rest = { opens: null, consumed: [], sealed: [], approvals: [], leaves: null, blobs: [] }

export function unpack(packed: Packed): Request {
  if (!Array.isArray(packed)) return packed
  if (packed.length === 7) {
    const [id, run, epoch, after, type, at, body] = packed
    return chainRequest(id, run, epoch, after, { types: [type], ats: [at], bodies: [body], blobs: [] }, nothingElse)
  }
  const [id, run, epoch, after, types, ats, bodies, rest] = packed
  return chainRequest(id, run, epoch, after, { types, ats, bodies, blobs: rest?.blobs ?? [] }, rest ?? nothingElse)
}

function chainRequest(id: number, run: string, epoch: number, after: number, entries: Entries, rest: Rest): Request {
  const { opens, consumed, sealed, approvals, leaves } = rest
  return { id, ask: { kind: 'chain', run, epoch, after, entries, opens, consumed, sealed, approvals, leaves } }
}
