/** A step that a call takes at a certain time, unless it was ended before. */
import type { OpenCall } from './call.ts'
import type { Desk } from './desk.ts'

export function wakeAt(
  due: number,
  call: OpenCall,
  { now, pause }: Pick<Desk, 'now' | 'pause'>,
  step: () => void,
): void {
  const timer = new AbortController()
  call.timer = timer
  const over = pause(Math.max(0, due - now()), timer.signal)
  over.then(() => (timer.signal.aborted ? undefined : step())).catch(() => {})
}
