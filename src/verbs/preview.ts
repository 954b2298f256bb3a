/** What a run may call, beside an answer in which a human or a model has to judge it. */
import type { Catalog } from '#catalog'
import { type Config, type JsonObject, limits, type Plan, type RunId } from '#model'
import type { Store } from '#record'
import { namedBy, narrower, previewOf, standingRules } from '#run'
import type { RunView } from './run-view.ts'
import { effectsOfLines } from './written-line.ts'

type Parts = { store: Store; catalog: Catalog; policy: Config['policy'] }

/** With questions and in dry runs; a server that does not say at once what it has does not hold back the answer. */
export async function withPreview(parts: Parts, answer: JsonObject, { started }: RunView): Promise<JsonObject> {
  const { store, catalog, policy } = parts
  if (answer.status !== 'approval_required' && started.mode === 'run') return answer
  const plan = planOf(store.value(started.plan))
  const permissions = narrower(started.permissions, policy.permissions)
  const rules = [...policy.rules, ...standingRules(store, permissions)]
  const toolOf = (id: string) => catalog.tool(id, limits.discoverWaitMsMax)
  const preview = await previewOf(plan, { permissions, rules }, toolOf)
  return { ...answer, ...preview } as unknown as JsonObject
}

/**
 * Questions with what their runs are for, the tools that their plans name, and what a line written with the answer would do; what
 * policy would say of the plan's tools is asked where it is judged.
 */
export function named({ store, policy }: Omit<Parts, 'catalog'>, questions: JsonObject[]): JsonObject[] {
  const started = store.started([...new Set(questions.map(({ run }) => run as RunId))])
  return questions.map((question) => {
    const run = started.get(question.run as RunId)
    if (run === undefined) return question
    const { intent, plan, permissions } = run
    const lines = effectsOfLines(question, permissions, policy)
    return { ...question, intent, ...namedBy(planOf(store.value(plan))), lines } as unknown as JsonObject
  })
}

/** A plan from its place in the record. */
export function planOf(recorded: unknown): Plan {
  const { kind, source } = recorded as { kind: Plan['kind']; source: unknown }
  return (kind === 'code' ? { kind, code: source } : { kind, tasks: source }) as Plan
}
