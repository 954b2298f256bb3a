/** W3C trace context: how a run and its calls stand in the trace of their client. */
import { sha256 } from './digest.ts'

const form = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

export type TraceContext = { trace: string; parent: string; flags: string }

/** Null where it is no trace context: then there is none, as the standard wants it. */
export function parseTraceparent(value: unknown): TraceContext | null {
  const [, trace, parent, flags] = (typeof value === 'string' && form.exec(value)) || []
  return trace === undefined ? null : { trace, parent: parent!, flags: flags! }
}

/** The same run and call always give the same span; the run's own is that of no call. */
export function spanIdOf(run: string, call = ''): string {
  return sha256(`${run} ${call}`).slice(0, 16)
}

/**
 * What a call sends along: the trace that it belongs to, and its own span as the parent of what
 * follows.
 */
export function traceparentOf({ trace, flags }: TraceContext, run: string, call: string): string {
  return `00-${trace}-${spanIdOf(run, call)}-${flags}`
}
