/** What is asked to be written, as plain data, and what is answered when it is. */
import type { ErrorData, EventBodies, EventType, InboxType, RunStatus } from '#model'
import type { BlobBytes } from '#record/disk'

/**
 * Events of one chain, a column each: a thousand strings cross to the writer far sooner than a
 * thousand objects.
 */
export type Entries = {
  types: EventType[]
  ats: number[]
  bodies: string[]
  blobs: BlobBytes[]
  made?: PrecomputedLines | null
}
/** Lines and hashes of the first of them, good if the chain's last hash is still this one. */
export type PrecomputedLines = { from: string; lines: string[]; hashes: string[] }
type SealedRow = { placeholder: string; server: string; ciphertext: Uint8Array }
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
  open: { key: string | null; intent: string | null } | null
  consumed: number[]
  sealed: SealedRow[]
  approvals: ApprovalChange[]
  /** Given up by its owner: suspended or finished. */
  release: { status: RunStatus; callCount: number | null } | null
}

/**
 * What must still be so for an entry of the inbox: the approval is open, or the chain has so many
 * events. `last` is the newest entry that the sender has seen.
 */
export type Expected = { approval: string } | { count: number }

export type WriteRequest =
  | ChainWrite
  | { kind: 'home'; entries: Entries }
  | { kind: 'send'; run: string; type: InboxType; ciphertext: Uint8Array; expected?: Expected & { last: number } }
  | { kind: 'take'; run: string; owner: string | null; epoch: number }
  | { kind: 'purge'; run: string; at: number; by: { who: string; from: string } }
  | { kind: 'checkpoint'; at: number }

export type Request = { id: number; ask: WriteRequest }
/** The number alone where there is nothing to say but that it is done. */
export type Ack = number | { id: number; value?: unknown; error?: ErrorData }
