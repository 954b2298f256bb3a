/** What a run may call, beside an answer in which a human or a model has to judge it. */
import type { Catalog } from '#catalog'
import { type Config, limits, type RunId } from '#model'
import type { Store } from '#record'
import { namedBy, narrower, previewOf, standingRules } from '#run'
import { type Approval, planOf, type Question, type RunAnswer, type RunView } from '#verbs/views'
import { effectsOfRules } from './written-line.ts'

type Parts = { store: Store; catalog: Catalog; policy: Config['policy'] }

/**
 * With questions and in dry runs; a server that does not say at once what it has does not hold back
 * the answer.
 */
export async function withPreview(parts: Parts, answer: RunAnswer, { started }: RunView): Promise<RunAnswer> {
  const { store, catalog, policy } = parts
  if (answer.status !== 'approval_required' && started.mode === 'run') return answer
  const { plan, digest } = planOf(store.value(started.plan))
  const permissions = narrower(started.permissions, policy.permissions)
  const rules = [...policy.rules, ...standingRules(store, permissions)]
  const toolOf = (id: string) => catalog.tool(id, limits.discoverWaitMsMax)
  const preview = await previewOf({ plan, digest }, { permissions, rules }, toolOf)
  return { ...answer, ...preview }
}

/**
 * Questions with what their runs are for, the tools that their plans name, and what a line written
 * with the answer would do; what policy would say of the plan's tools is asked where it is judged.
 */
export async function withPlannedTools(
  { store, policy }: Omit<Parts, 'catalog'>,
  questions: Approval[],
): Promise<Question[]> {
  const started = store.startedEvents([...new Set(questions.map(({ run }) => run as RunId))])
  const whole = questions.map(async (question) => {
    const run = started.get(question.run as RunId)
    if (run === undefined) return question
    const { intent, plan, permissions } = run
    const lines = effectsOfRules(question, permissions, policy)
    return { ...question, intent, ...(await namedBy(planOf(store.value(plan)))), lines }
  })
  return Promise.all(whole)
}
