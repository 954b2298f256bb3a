/** What the main thread asks of the writer, as plain data, and what it hears back. */
import type { ErrorData, EventType, InboxType, RunStatus } from '#model'
import type { BlobBytes } from './line.ts'

/** Events of one chain, a column each: a thousand strings cross to the writer far sooner than a thousand objects. */
export type Entries = { types: EventType[]; ats: number[]; bodies: string[]; blobs: BlobBytes[] }
export type SealedRow = { placeholder: string; server: string; box: Uint8Array }

/** Everything that one chain wants committed together. */
export type ChainWrite = {
  kind: 'chain'
  run: string
  epoch: number
  /** How many events the chain must have before these: so none is ever left out in the middle. */
  after: number
  opens: { key: string | null; intent: string | null } | null
  entries: Entries
  consumed: number[]
  sealed: SealedRow[]
  /** Given up by its owner: suspended or finished. */
  leaves: { status: RunStatus; callCount: number | null } | null
}

export type Ask =
  | ChainWrite
  | { kind: 'home'; entries: Entries }
  | { kind: 'send'; run: string; type: InboxType; box: Uint8Array }
  | { kind: 'take'; run: string; owner: string | null; epoch: number }
  | { kind: 'purge'; run: string; at: number }
  | { kind: 'checkpoint'; at: number }

export type Request = { id: number; ask: Ask }
export type Ack = { id: number; value?: unknown; error?: ErrorData }

export type Message = Request[] | 'close'
export type Reply = Ack[] | 'checkpoint is due'

export type WriterData = { home: string; process: string }
