/** An intent without a plan: what could be done about it, as tasks to fill in. Nothing runs. */
import { type Catalog, signatureOf } from '#catalog'
import type { JsonObject, Tool } from '#model'
import type { ExecuteAnswer } from '#verbs/views'

const alternativesMax = 3

export async function suggest(catalog: Catalog, intent: string): Promise<ExecuteAnswer> {
  const { results, unmatched } = await catalog.search({ intent, limit: 1 + alternativesMax })
  const best = results[0]
  const suggestion = {
    tasks: best === undefined ? [] : [{ id: 't1', tool: best.tool.id, arguments: {} }],
    confidence: best?.score ?? 0,
    rationale: best === undefined ? 'No tool fits the intent.' : `"${best.tool.id}" fits best: ${best.why}`,
    dependencyPaths: [],
    toolSchemas: best === undefined ? {} : { [best.tool.id]: schemasOf(catalog.forAgents(best.tool)) },
    alternatives: results.slice(1).map(({ tool }) => tool.id),
    warnings: unmatched.length === 0 ? [] : [`No tool knows the words: ${unmatched.join(', ')}`],
  }
  return { status: 'suggested', suggestion }
}

function schemasOf({ description, input, output }: Tool): JsonObject {
  return { description, signature: signatureOf(input), input, ...(output === undefined ? {} : { output }) }
}
