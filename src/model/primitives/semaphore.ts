/** A counting semaphore: at most so many holders at once; further ones wait first in, first out. */

export type Semaphore = {
  /**
   * Resolves to the function that releases the permit, which counts once. Rejects with the signal's
   * reason: who is aborted while waiting leaves the queue.
   */
  acquire(signal?: AbortSignal): Promise<() => void>
  /** How many wait. */
  readonly waiting: number
}

export function openSemaphore(permits: number): Semaphore {
  const queue: (() => void)[] = []
  let held = 0

  function grant(): () => void {
    held++
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      held--
      queue.shift()?.()
    }
  }

  return {
    get waiting() {
      return queue.length
    },
    async acquire(signal) {
      signal?.throwIfAborted()
      if (held < permits && queue.length === 0) return grant()
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const next = () => {
        signal?.removeEventListener('abort', leave)
        resolve(grant())
      }
      const leave = () => {
        queue.splice(queue.indexOf(next), 1)
        reject(signal?.reason)
      }
      queue.push(next)
      signal?.addEventListener('abort', leave, { once: true })
      return promise
    },
  }
}
