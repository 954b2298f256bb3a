/** Bounds the scripts that run at once, and those that wait for their turn. */
import { AppError, openSemaphore } from '#model'

/** `enter` resolves to the function that lets the next one in. */
type BoundedSemaphore = { enter(signal?: AbortSignal): Promise<() => void> }

export function openBoundedSemaphore(insideMax: number, waitingMax: number): BoundedSemaphore {
  const semaphore = openSemaphore(insideMax)
  return {
    async enter(signal) {
      if (semaphore.waiting >= waitingMax && !signal?.aborted) {
        const message = `Cannot run the script: ${waitingMax} others wait already; try again later`
        throw new AppError('SANDBOX_SETUP_FAILED', message, { waitingMax })
      }
      return semaphore.acquire(signal).catch(() => {
        throw new AppError('CANCELLED', 'Cannot run the script: it was cancelled before it started')
      })
    },
  }
}
