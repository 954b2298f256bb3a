/**
 * What leaves about a run that has begun: whatever breaks on the way, its caller gets the run's id,
 * and no leave to send the request again.
 */
import { RunError, type RunId } from '#model'
import type { Store } from '#record'
import { answerStatus } from './run-answer.ts'

/**
 * `answer` makes an answer about the run; what it throws is thrown as a RunError, unless there is
 * no such run.
 */
export async function aboutRun<Answer extends object>(
  store: Pick<Store, 'run'>,
  run: RunId,
  answer: () => Answer | Promise<Answer>,
): Promise<Answer> {
  try {
    return await answer()
  } catch (thrown) {
    throw runError(store, run, thrown)
  }
}

/** The same for an answer that is there at once. */
export function aboutRunNow<Answer>(store: Pick<Store, 'run'>, run: RunId, answer: () => Answer): Answer {
  try {
    return answer()
  } catch (thrown) {
    throw runError(store, run, thrown)
  }
}

function runError(store: Pick<Store, 'run'>, run: RunId, thrown: unknown): unknown {
  if (thrown instanceof RunError) return thrown
  try {
    const row = store.run(run)
    return row === undefined ? thrown : new RunError(run, answerStatus(row.status), thrown)
  } catch {
    return new RunError(run, null, thrown)
  }
}
