/**
 * Waiting for a run in the record: for its end, for a question, for an answer, whichever process
 * owns it.
 */
import { limits, type RunId } from '#model'
import type { Store } from '#record'
import { openQuestions } from './open-approvals.ts'
import { viewRun } from './run-view.ts'

/**
 * Resolves with true when the fact holds, looked at now and after every change; with false after
 * `ms` or when it is over.
 */
export function until(
  store: Pick<Store, 'onChange'>,
  fact: () => boolean,
  { ms, over }: { ms?: number; over?: AbortSignal } = {},
): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const look = () => {
    try {
      if (fact()) resolve(true)
    } catch (error) {
      reject(error)
    }
  }
  const giveUp = () => resolve(false)
  const unsubscribe = store.onChange(look)
  const timer = ms === undefined ? undefined : setTimeout(giveUp, ms)
  over?.addEventListener('abort', giveUp, { once: true })
  if (over?.aborted) giveUp()
  look()
  return promise.finally(() => {
    clearTimeout(timer)
    over?.removeEventListener('abort', giveUp)
    unsubscribe()
  })
}

/**
 * True while a human is asked about something in this run that is not among what the caller has
 * seen.
 */
export function asksSomethingNew(store: Store, run: RunId, seen: ReadonlySet<string> = new Set()): boolean {
  return openQuestions(store, viewRun(store, run)).some(({ asked }) => !seen.has(asked.approval))
}

/**
 * Resolves when a question is none any more: it was answered somewhere, it expired, or its run is
 * over.
 */
export async function whenAnswered(store: Store, id: string, over: AbortSignal): Promise<boolean> {
  const question = store.approval(id)
  if (question === undefined) return true
  const { run, asked } = question
  const isSent = () => store.inbox(run).some(({ type, body }) => type === 'approval.answered' && body.approval === id)
  const isOpen = () => store.approval(id)?.answer === null && !isSent()
  const rest = Math.max(0, Date.parse(asked.body.expiresAt) - Date.now())
  const late = AbortSignal.timeout(Math.min(rest, limits.timeoutMsMax))
  await until(store, () => !isOpen(), { over: AbortSignal.any([over, late]) })
  return !over.aborted
}
