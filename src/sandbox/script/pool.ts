/** Boxes opened ahead: the next script finds its interpreter waiting. */
import { limits } from '#model'
import type { Box } from '#sandbox/script-box'

export type Pool = {
  /** A waiting box, or a new one; it is replaced a little later. */
  take(): Promise<Box>
  /** Resolves when as many wait as should. */
  fill(): Promise<void>
  /** Stops what waits, and what is about to. */
  close(): void
}

export function openPool(open: () => Promise<Box>, size: number): Pool {
  const waiting = new Map<Box, NodeJS.Timeout>()
  let filling: Promise<void> | null = null
  let refill: NodeJS.Timeout | undefined
  let closed = false

  function keep(box: Box): void {
    if (closed) return box.stop('closed')
    // A box that stood for long is replaced: what it was opened on may have changed.
    const timer = setTimeout(() => box.stop('closed'), limits.scriptBoxIdleMsMax)
    waiting.set(box, timer)
    void box.gone.then(() => drop(box))
  }

  function drop(box: Box): void {
    clearTimeout(waiting.get(box))
    waiting.delete(box)
  }

  async function fillUp(): Promise<void> {
    while (!closed && waiting.size < size) keep(await open())
  }

  function fill(): Promise<void> {
    filling ??= fillUp().finally(() => {
      filling = null
    })
    return filling
  }

  return {
    async take() {
      clearTimeout(refill)
      // The next request for a box tries again, and gets the error.
      refill = setTimeout(() => fill().catch(() => {}), limits.scriptRefillMs)
      for (const box of waiting.keys()) {
        drop(box)
        if (box.alive) return box
      }
      return open()
    },
    fill,
    close() {
      closed = true
      clearTimeout(refill)
      for (const box of waiting.keys()) {
        drop(box)
        box.stop('closed')
      }
    },
  }
}
