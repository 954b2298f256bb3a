/**
 * Puts a human's word into a run's inbox under a condition: what the sender has looked at must
 * still be so when the row is written. The look happens outside the write lock, since entries of
 * the inbox are sealed; under the lock the writer only compares numbers, and refuses where
 * something came in between. Then the sender looks again.
 */
import { AppError, type EventBodies, type InboxType, limits, type RunId } from '#model'
import type { Expected } from '#record/ledger'
import type { Writer } from '#record/writer'

/**
 * Throws where it must not be sent any more; else answers what must still be so when it is written.
 */
export type Look = () => Expected

type World = {
  queue: Pick<Writer, 'write'>
  /** The newest entry of the run's inbox; 0 where there is none. */
  lastInbox(run: RunId): number
  seal(run: RunId, text: string): Uint8Array
}

export async function sendTo<Type extends InboxType>(
  { queue, lastInbox, seal }: World,
  run: RunId,
  type: Type,
  body: EventBodies[Type],
  look?: Look,
): Promise<void> {
  const ask = { kind: 'send' as const, run, type, ciphertext: seal(run, JSON.stringify(body)) }
  if (look === undefined) return void (await queue.write(ask))
  for (let tries = 0; tries < limits.inboxTriesMax; tries++) {
    // Read first: what arrives during the look is newer, and makes the condition fail.
    const last = lastInbox(run)
    if ((await queue.write({ ...ask, expected: { ...look(), last } })) !== 'changed') return
  }
  throw new AppError('RUN_OWNED', `Cannot answer run ${run}: it is answered faster than it can be read; try again`, {
    run,
  })
}
