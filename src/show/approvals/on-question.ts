/** Tells of each approval once, as it is asked for. */
import type { Approval, Question, Verbs } from '#verbs'

/** Of those that are open now too; undone by what comes back. */
export function onQuestion(verbs: Verbs, tell: (question: Question) => void): () => void {
  const known = new Set<string>()
  let isOver = false
  /** One after the other, so that questions are told in the order in which they were asked. */
  let last = Promise.resolve()
  const tellAll = async (added: Approval[]) => {
    for (const question of await verbs.withPlannedTools(added)) if (!isOver) tell(question)
  }
  const look = () => {
    const open = verbs.approvals()
    const added = open.filter(({ id }) => !known.has(id))
    known.clear()
    for (const { id } of open) known.add(id)
    if (added.length === 0) return
    last = last
      .then(() => tellAll(added))
      .catch((error) => {
        if (!isOver) throw error
      })
  }
  look()
  const unsubscribe = verbs.onChange(look)
  return () => {
    isOver = true
    unsubscribe()
  }
}
