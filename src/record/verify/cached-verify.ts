/**
 * Verification with a cache: what was found good is not read again for a while, and the answer says
 * since when.
 */
import { limits } from '#model'
import { homePaths } from '#record/disk'
import { type Verdict, verifyOn } from './verify-home.ts'
import { newWalk, type Walk } from './walk-events.ts'

/**
 * `wholeAt` is when the record was last read from its first event on; what came since was verified
 * now.
 */
type RecentVerdict = Verdict & { wholeAt: string }

export function openVerifier(home: string, now: () => number = Date.now): () => Promise<RecentVerdict> {
  const paths = homePaths(home)
  let walk: Walk | undefined
  let wholeAt = 0
  let dueAt = 0
  let running: Promise<RecentVerdict> | undefined

  /**
   * A bad verdict is never given from the middle: a run that was purged meanwhile looks like one
   * that was cut.
   */
  async function verifyRecent(): Promise<RecentVerdict> {
    const verdict = walk && now() < dueAt ? await verifyOn(paths, walk) : null
    return verdict?.ok ? { ...verdict, wholeAt: new Date(wholeAt).toISOString() } : verifyWhole()
  }

  async function verifyWhole(): Promise<RecentVerdict> {
    wholeAt = now()
    const fresh = newWalk()
    const verdict = await verifyOn(paths, fresh)
    walk = verdict.ok ? fresh : undefined
    const took = now() - wholeAt
    dueAt = wholeAt + Math.max(limits.verifyWholeMsMin, took * limits.verifyWholePauseMax)
    return { ...verdict, wholeAt: new Date(wholeAt).toISOString() }
  }

  return () => {
    running ??= verifyRecent().finally(() => {
      running = undefined
    })
    return running
  }
}
