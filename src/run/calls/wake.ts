/** A step that is taken at a certain time, unless its signal was aborted before. */
import type { CallContext } from './call-context.ts'

type Clock = Pick<CallContext, 'now' | 'pause'>

export function wakeAt(due: number, signal: AbortSignal, { now, pause }: Clock, step: () => void): void {
  const over = pause(Math.max(0, due - now()), signal)
  over.then(() => (signal.aborted ? undefined : step())).catch(() => {})
}
