/** The messages between the main thread and the writer thread. */
import type { EventType } from '#model'
import type { Ack, OwnedHeads } from '#record/ledger'
import type { PackedRequest } from './packing.ts'

/**
 * `early` are asks that are committed with the next list: both threads work at once. The heads of
 * the runs that we own come with the right to write, and go back with it, after the `last` asks. A
 * process that commits inline has the thread maintain the log now and then.
 */
export type Message =
  | PackedRequest[]
  | { early: PackedRequest[] }
  | { last: PackedRequest[] }
  | { owned: OwnedHeads }
  | Part
  | 'tend'
  | 'close'
export type Reply = Ack[] | HeadsReturned | 'checkpoint is due'
export type HeadsReturned = { acks: Ack[]; owned: OwnedHeads }

export type WriterData = { home: string; process: string }

/**
 * The first events of a long write, sent ahead while the rest is still being made: both threads
 * work at once.
 */
export type Part = { run: string; epoch: number; after: number; types: EventType[]; ats: number[]; bodies: string[] }
