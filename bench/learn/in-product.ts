/** What discover and execute make of past runs: their ranking, and the tools that they foresee. */
import { buildIndex, search } from '#catalog'
import { Adviser, joinParts, type KnownTool, type PastPlan, type SuggestedPlan } from '#learn'

const server = 'bench'

/** Searches the tools as discover does; by place, for intents that are asked more than once. */
export function wordsOfTools(tools: readonly KnownTool[]): (intent: string) => ReadonlyMap<number, number> {
  const places = new Map(tools.map(({ id }, at) => [id, at]))
  const rest = { annotations: {}, effect: 'unsafe', effectFrom: 'default', input: { type: 'object' } } as const
  const index = buildIndex(
    tools.map(({ id, name, description }) => ({
      ...rest,
      id: `${server}:${id}`,
      server,
      name,
      description,
      digest: id,
    })),
  )
  const known = new Map<string, ReadonlyMap<number, number>>()
  return (intent) => {
    const before = known.get(intent)
    if (before !== undefined) return before
    const { results } = search(index, { intent, filter: { minScore: 0 }, limit: tools.length })
    const scores = new Map(results.map(({ tool, score }) => [places.get(tool.digest)!, score]))
    known.set(intent, scores)
    return scores
  }
}

type InProduct = { rank(intent: string): number[]; suggest(intent: string): Promise<SuggestedPlan> }

/** The Adviser over runs that all succeeded, as it reads them from the record. */
export function inProduct(
  tools: readonly KnownTool[],
  past: readonly PastPlan[],
  words: ReturnType<typeof wordsOfTools>,
): InProduct {
  const idOf = (tool: number) => `${server}:${tools[tool]!.id}`
  const places = new Map(tools.map((_, at) => [idOf(at), at]))
  const run = {
    at: new Date(0).toISOString(),
    subject: null,
    kind: 'dag',
    status: 'done',
    teaches: 'rates',
    ms: 0,
  } as const
  const runs = past.map(({ intent, tools: used }, n) => ({ ...run, run: `run-${n}`, n, intent, tools: used.map(idOf) }))
  const known = {
    runs,
    tool: () => undefined,
    edges: () => [],
    examplesOf: () => [],
    capabilities: () => [],
    capability: () => undefined,
    shapes: () => [],
    usesOf: () => [],
  }
  const adviser = new Adviser({ knowledge: () => known, isShared: false, now: Date.now })
  const asker = { subject: null, servers: new Set([server]) }
  return {
    rank(intent) {
      const hints = adviser.hints(intent, asker)
      const scores = tools.map((_, at) => {
        const history = hints.history.get(idOf(at)) ?? 0
        return joinParts({ words: words(intent).get(at) ?? 0, history, context: 0, success: null })
      })
      return [...scores.keys()].sort((a, b) => scores[b]! - scores[a]!)
    },
    async suggest(intent) {
      const { tools: ids, confidence } = await adviser.foresight(intent, asker)
      const chosen = ids.map((id) => places.get(id)!)
      return {
        tools: chosen,
        links: chosen.slice(1).map((tool, at): [number, number] => [chosen[at]!, tool]),
        confidence,
      }
    },
  }
}
