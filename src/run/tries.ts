/** How a call is tried until its outcome is known: the three outcomes of a try, and what each allows. */
import { type AppError, type Effect, limits, mayRepeat, type Try } from '#model'

export type Outcome =
  | Exclude<Try, { outcome: 'unknown' }>
  | { outcome: 'given_up'; error: AppError }
  | { outcome: 'in_doubt' }

/** `sent` puts the try on the record, durably, before it is made; it says no when the call was ended meanwhile. */
export type Tries = { sent(): Promise<boolean>; make(): Promise<Try>; pause(ms: number): Promise<void>; now(): number }

/** Not sent: again, whatever the tool. Answered: that is it. Unknown: again only where repeating is safe. */
export async function tryUntilKnown(effect: Effect, { sent, make, pause, now }: Tries): Promise<Outcome | null> {
  const began = now()
  for (let tries = 1; ; tries++) {
    if (!(await sent())) return null
    const outcome = await make()
    if (outcome.outcome === 'answered') return outcome
    if (outcome.outcome === 'not_sent' && tries >= limits.notSentTriesMax) return outcome
    if (outcome.outcome === 'unknown') {
      if (!mayRepeat(effect)) return { outcome: 'in_doubt' }
      if (tries > limits.unknownTriesMax || now() - began > limits.unknownTriesWithinMs) {
        return { outcome: 'given_up', error: outcome.error }
      }
    }
    await pause(50 * 2 ** tries)
  }
}
