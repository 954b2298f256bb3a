/** A step that a call takes at a certain time, unless it was ended before. */

import type { CallContext } from './call-context.ts'
import type { OpenCall } from './open-call.ts'

export function wakeAt(
  due: number,
  call: OpenCall,
  { now, pause }: Pick<CallContext, 'now' | 'pause'>,
  step: () => void,
): void {
  const timer = new AbortController()
  call.timer = timer
  const over = pause(Math.max(0, due - now()), timer.signal)
  over.then(() => (timer.signal.aborted ? undefined : step())).catch(() => {})
}
