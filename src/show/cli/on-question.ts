/** Tells of each approval once, as it is asked for. */
import type { Question, Verbs } from '#verbs'

/** Of those that are open now too; undone by what comes back. */
export function onQuestion(verbs: Verbs, tell: (question: Question) => void): () => void {
  const known = new Set<string>()
  const look = () => {
    const open = verbs.approvals() as unknown as Question[]
    const added = open.filter(({ id }) => !known.has(id))
    known.clear()
    for (const { id } of open) known.add(id)
    for (const question of verbs.named(added as never) as unknown as Question[]) tell(question)
  }
  look()
  return verbs.onChange(look)
}
