/**
 * Members of an event as they stand in the record, where a large one is a reference to a blob:
 * typed so that no reader takes the one for the other.
 */

import type { RawJson } from '#model/primitives'
import type { EventBodies, EventType } from './event.ts'

/** A value outside its event: the SHA-256 and the length of its JSON text. */
export type BlobReference = { $blob: string; bytes: number }

declare const unopened: unique symbol

/**
 * A member that may be inline or a blob reference. The type is opaque, and an interface so that it
 * is no JSON object either: a value or a text comes out of it only through the store (`value`,
 * `text` and `previewText`), which reads the blob where it is one.
 */
export interface Stored<Value> {
  readonly [unopened]: Value
}

/**
 * Members that are often large and not always needed. All others are read from their blobs together
 * with their event.
 */
export const deferredMembers = {
  'run.started': ['plan', 'args', 'mocks', 'forkedFrom'],
  'call.issued': ['args', 'edited'],
  'call.sent': ['args'],
  'call.resolved': ['value', 'answer'],
  'run.finished': ['result'],
  'learn.folded': ['state'],
} as const satisfies { [Type in EventType]?: readonly (keyof EventBodies[Type])[] }

type Deferred<Type extends EventType> = Type extends keyof typeof deferredMembers
  ? (typeof deferredMembers)[Type][number]
  : never

/** The body of an event as it was read; `EventBodies` has it as it is written. */
export type RecordedBody<Type extends EventType> = {
  [Name in keyof EventBodies[Type]]: Name extends Deferred<Type>
    ? Stored<Exclude<EventBodies[Type][Name], RawJson | undefined>>
    : EventBodies[Type][Name]
}

/** An event as it was read; members that may be large are still to be opened. */
export type Event<Type extends EventType = EventType> = {
  [T in Type]: { run: string; n: number; at: string; type: T; body: RecordedBody<T> }
}[Type]
