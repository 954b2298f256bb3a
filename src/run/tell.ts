/** Tells whoever attends a run how far it is: of a result when it is on disk, like anybody else. */
import { timerTool } from '#model'
import type { Desk } from './desk.ts'

export function tellerOf({ attendant, chain }: Pick<Desk, 'attendant' | 'chain'>): (tool: string) => void {
  const moved = attendant?.moved
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
