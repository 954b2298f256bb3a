/**
 * Waits of any length: Node's own timers fire at once when they are given more than about 24.8
 * days.
 */
import { setTimeout as delay } from 'node:timers/promises'

const delayMsMax = 2 ** 31 - 1

/** Resolves when so many milliseconds are over, also months; rejects when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal, stepMs: number = delayMsMax): Promise<void> {
  let left = ms
  do {
    await delay(Math.min(left, stepMs), undefined, { signal })
    left -= stepMs
  } while (left > 0)
}
