/**
 * An event from its line: members that stand as blobs are read here, except those that a reader
 * opens one by one.
 */
import { type BlobReference, deferredMembers, type Event, type EventType, type Stored } from '#model'
import { isBlobReference } from './event-line.ts'

const deferred: { [Type in EventType]?: readonly string[] } = deferredMembers

/**
 * `readBlob` answers with the JSON text of a blob. It is called for no event whose members all
 * stand in its line.
 */
export function parseEvent(line: string, readBlob: (reference: BlobReference) => string): Event {
  const event = JSON.parse(line) as { type: EventType; body: Record<string, unknown> }
  if (line.includes('{"$blob":"')) openMembers(event, readBlob)
  return event as Event
}

function openMembers(
  { type, body }: { type: EventType; body: Record<string, unknown> },
  readBlob: (reference: BlobReference) => string,
): void {
  for (const [name, member] of Object.entries(body)) {
    if (!isBlobReference(member) || deferred[type]?.includes(name)) continue
    body[name] = JSON.parse(readBlob(member))
  }
}

/** Where a member stands outside its event; null where it is inline. */
export function blobOf(member: Stored<unknown>): BlobReference | null {
  return isBlobReference(member) ? member : null
}
