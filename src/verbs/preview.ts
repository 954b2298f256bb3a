/** What a run may call, beside an answer in which a human or a model has to judge it. */
import type { Catalog } from '#catalog'
import { type Config, type JsonObject, limits, type Plan } from '#model'
import type { Store } from '#record'
import { namedBy, previewOf, standingRules } from '#run'
import { parsed, type RunView } from './answer.ts'

type Parts = { store: Store; catalog: Catalog; policy: Config['policy'] }

/** With questions and in dry runs; a server that does not say at once what it has does not hold back the answer. */
export async function withPreview(parts: Parts, answer: JsonObject, { started }: RunView): Promise<JsonObject> {
  const { store, catalog, policy } = parts
  if (answer.status !== 'approval_required' && started.mode === 'run') return answer
  const plan = planOf(parsed(store, started.plan))
  const rules = [...policy.rules, ...standingRules(store)]
  const toolOf = (id: string) => catalog.tool(id, limits.discoverWaitMsMax)
  const preview = await previewOf(plan, { permissions: started.permissions, rules }, toolOf)
  return { ...answer, ...preview } as unknown as JsonObject
}

/** A question with what its run is for and the tools that its plan names; what policy would say of them is asked where it is judged. */
export function named(store: Store, question: JsonObject): JsonObject {
  const [first] = store.events(String(question.run), { type: 'run.started' })
  if (first?.type !== 'run.started') return question
  const { intent, plan } = first.body
  return { ...question, intent, ...namedBy(planOf(parsed(store, plan))) } as unknown as JsonObject
}

/** A plan from its place in the record. */
export function planOf(recorded: unknown): Plan {
  const { kind, source } = recorded as { kind: Plan['kind']; source: unknown }
  return (kind === 'code' ? { kind, code: source } : { kind, tasks: source }) as Plan
}
