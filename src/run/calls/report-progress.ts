/** Reports a run's progress to its client: a result once it is on disk, not before. */
import { timerTool } from '#model'
import type { CallContext } from './call-context.ts'

export function progressReporter({
  attendant,
  chain,
}: Pick<CallContext, 'attendant' | 'chain'>): (tool: string) => void {
  const moved = attendant?.runProgressed
  if (moved === undefined) return () => {}
  let resolved = 0
  return (tool) => {
    if (tool === timerTool) return
    const note = { progress: ++resolved, message: `${tool} was answered` }
    chain.durable().then(
      () => moved(note),
      () => {},
    )
  }
}
