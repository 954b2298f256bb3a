/** What the main thread asks of the writer, as plain data, and what it hears back. */
import type { ErrorData, EventType, InboxType, RunStatus } from '#model'
import type { BlobBytes } from './line.ts'

export type Entry = { type: EventType; at: number; body: string; blobs: BlobBytes[] }
export type SealedRow = { placeholder: string; server: string; box: Uint8Array }

/** Everything that one chain wants committed together. */
export type ChainWrite = {
  kind: 'chain'
  run: string
  epoch: number
  /** How many events the chain must have before these: so none is ever left out in the middle. */
  after: number
  opens: { key: string | null; intent: string | null } | null
  entries: Entry[]
  consumed: number[]
  sealed: SealedRow[]
  /** Given up by its owner: suspended or finished. */
  leaves: { status: RunStatus; callCount: number | null } | null
}

export type Ask =
  | ChainWrite
  | { kind: 'home'; entry: Entry }
  | { kind: 'send'; run: string; type: InboxType; box: Uint8Array }
  | { kind: 'take'; run: string; owner: string | null; epoch: number }
  | { kind: 'purge'; run: string; at: number }
  | { kind: 'checkpoint'; at: number }

export type Request = { id: number; ask: Ask }
export type Ack = { id: number; value?: unknown; error?: ErrorData }

export type Message = Request[] | 'close'
export type Reply = { acks: Ack[]; checkpointIsDue: boolean }

export type WriterData = { home: string; process: string }
