/** Lets so many in at a time and keeps the rest in the order in which they came. */
import { AppError } from '#model'

export type Turnstile = { enter(signal?: AbortSignal): Promise<void>; leave(): void }

type Waiting = { enter(): void }

export function openTurnstile(insideMax: number, waitingMax: number): Turnstile {
  let inside = 0
  const queue: Waiting[] = []
  return {
    enter(signal) {
      if (signal?.aborted) return Promise.reject(cancelled())
      if (inside < insideMax) {
        inside += 1
        return Promise.resolve()
      }
      if (queue.length >= waitingMax) {
        const message = `Cannot run the script: ${waitingMax} others wait already; try again later`
        return Promise.reject(new AppError('SANDBOX_SETUP_FAILED', message, { waitingMax }))
      }
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          queue.splice(queue.indexOf(waiting), 1)
          reject(cancelled())
        }
        const waiting = {
          enter() {
            signal?.removeEventListener('abort', onAbort)
            resolve()
          },
        }
        queue.push(waiting)
        signal?.addEventListener('abort', onAbort)
      })
    },
    leave() {
      const next = queue.shift()
      if (next) next.enter()
      else inside -= 1
    },
  }
}

function cancelled(): AppError {
  return new AppError('CANCELLED', 'Cannot run the script: it was cancelled before it started')
}
