/** Asks a thread of its own, which ends with its answer or with the signal. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Null where the thread ended without an answer. */
export async function askThread<Answer>(module: URL, request: object, signal: AbortSignal): Promise<Answer | null> {
  if (signal.aborted) return null
  const thread = new Worker(module, { workerData: request, env: {} })
  const end = () => void thread.terminate()
  signal.addEventListener('abort', end, { once: true })
  try {
    const [answer] = await Promise.race([once(thread, 'message'), once(thread, 'exit').then(() => [null])])
    return answer as Answer | null
  } finally {
    signal.removeEventListener('abort', end)
    await thread.terminate()
  }
}
