/** What a run may call, beside an answer in which a human or a model has to judge it. */
import type { Catalog } from '#catalog'
import { type Config, type JsonObject, limits, type Plan, type RunId } from '#model'
import type { Store } from '#record'
import { namedBy, previewOf, standingRules } from '#run'
import type { RunView } from './run-view.ts'

type Parts = { store: Store; catalog: Catalog; policy: Config['policy'] }

/** With questions and in dry runs; a server that does not say at once what it has does not hold back the answer. */
export async function withPreview(parts: Parts, answer: JsonObject, { started }: RunView): Promise<JsonObject> {
  const { store, catalog, policy } = parts
  if (answer.status !== 'approval_required' && started.mode === 'run') return answer
  const plan = planOf(store.value(started.plan))
  const rules = [...policy.rules, ...standingRules(store)]
  const toolOf = (id: string) => catalog.tool(id, limits.discoverWaitMsMax)
  const preview = await previewOf(plan, { permissions: started.permissions, rules }, toolOf)
  return { ...answer, ...preview } as unknown as JsonObject
}

/** Questions with what their runs are for and the tools that their plans name; what policy would say of them is asked where it is judged. */
export function named(store: Store, questions: JsonObject[]): JsonObject[] {
  const runs = [...new Set(questions.map(({ run }) => run as RunId))]
  const told = new Map<unknown, object>()
  for (const [run, { intent, plan }] of store.started(runs))
    told.set(run, { intent, ...namedBy(planOf(store.value(plan))) })
  return questions.map((question) => ({ ...question, ...told.get(question.run) }))
}

/** A plan from its place in the record. */
export function planOf(recorded: unknown): Plan {
  const { kind, source } = recorded as { kind: Plan['kind']; source: unknown }
  return (kind === 'code' ? { kind, code: source } : { kind, tasks: source }) as Plan
}
