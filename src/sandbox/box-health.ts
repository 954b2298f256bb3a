/**
 * Whether a program could be given a box now, as far as the last attempts tell; asking starts
 * nothing.
 */
import { type AppError, limits } from '#model'

export type BoxHealth = { ok: true } | { ok: false; reason: string }

type HealthWatch = {
  now(): BoxHealth
  succeeded(): void
  /**
   * Remembers why, and calls `again` after a pause that doubles up to a limit, until an attempt
   * succeeds.
   */
  failed(error: AppError): void
  close(): void
}

/**
 *   untested ── succeeded ──► ok ◄── succeeded ── failed (tried again in the background)
 *       └────── failed ───────┴──── failed ────────┘
 */
export function watchHealth(again: () => void): HealthWatch {
  let health: BoxHealth = { ok: false, reason: 'the first box is still being tested' }
  let pauseMs: number = limits.boxAgainMsMin
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  return {
    now: () => health,
    succeeded() {
      clearTimeout(timer)
      timer = undefined
      pauseMs = limits.boxAgainMsMin
      if (!isClosed) health = { ok: true }
    },
    failed({ message }) {
      if (isClosed) return
      health = { ok: false, reason: message }
      if (timer !== undefined) return
      timer = setTimeout(() => {
        timer = undefined
        again()
      }, pauseMs).unref()
      pauseMs = Math.min(2 * pauseMs, limits.boxAgainMsMax)
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      health = { ok: false, reason: 'the boxes are closed' }
    },
  }
}
