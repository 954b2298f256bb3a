/** Waits that end: at a signal, or after a while. */
import { setTimeout as pause } from 'node:timers/promises'

/** Stops waiting at the signal; what was waited for goes on for the others. */
export async function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort))
}

/**
 * The value if it comes within `ms`, else null. The timer is referenced, so the process lives as
 * long as this wait, and is cleared with it, so it lives no longer.
 */
export async function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | null> {
  const over = new AbortController()
  const late = pause(ms, null, { signal: over.signal }).catch(() => null)
  try {
    return await Promise.race([promise, late])
  } finally {
    over.abort()
  }
}
