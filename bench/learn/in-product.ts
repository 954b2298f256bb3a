/** What discover and execute make of past runs: their ranking, and the tools that they foresee. */
import { buildIndex, search } from '#catalog'
import { Adviser, fitPlans, joinParts, openPlanner, plannedPart, plansDueAt, recalledTools } from '#learn'
import { limits, type Tool } from '#model'

const server = 'bench'
const unread = { annotations: {}, effect: 'unsafe', effectFrom: 'default', input: { type: 'object' } } as const

export type KnownTool = { id: string; name: string; description: string }

/** Tools are named by their place in the list of known tools, in the order in which they ran. */
export type PastPlan = { intent: string; tools: number[] }

export type Suggested = { tools: number[]; links: [number, number][]; confidence?: number }
export type Words = (intent: string) => ReadonlyMap<string, number>

const idOf = ({ id }: KnownTool) => `${server}:${id}`

/** Searches the tools as discover does; by id, for intents that are asked more than once. */
export function wordsOfTools(tools: readonly KnownTool[]): Words {
  const index = buildIndex(
    tools.map((tool): Tool => {
      const { name, description } = tool
      return { ...unread, id: idOf(tool), server, name, description, digest: tool.id }
    }),
  )
  const known = new Map<string, ReadonlyMap<string, number>>()
  return (intent) => {
    const before = known.get(intent)
    if (before !== undefined) return before
    const { results } = search(index, { intent, limit: limits.discoverLimitMax })
    const scores = new Map(results.map(({ tool, score }) => [tool.id, score]))
    known.set(intent, scores)
    return scores
  }
}

type InProduct = { rank(intent: string): number[]; suggest(intent: string): Promise<Suggested>; planner: string }

/** The Adviser over runs that all succeeded; the planner as the last fixed count fitted it. */
export function inProduct(tools: readonly KnownTool[], past: readonly PastPlan[], words: Words): InProduct {
  const places = new Map(tools.map((tool, at) => [idOf(tool), at]))
  const run = {
    at: new Date(0).toISOString(),
    subject: null,
    kind: 'dag',
    status: 'done',
    teaches: 'rates',
    ms: 0,
  } as const
  const runs = past.map(({ intent, tools: used }, n) => {
    return { ...run, run: `run-${n}`, n, intent, tools: used.map((tool) => idOf(tools[tool]!)) }
  })
  const known = {
    runs,
    removals: 0,
    run: () => undefined,
    tool: () => undefined,
    edges: () => [],
    examplesOf: () => [],
    capabilities: () => [],
    capability: () => undefined,
    shapes: () => [],
    shape: () => undefined,
    usesOf: () => [],
    useCounts: () => ({ runs: 0, successes: 0 }),
  }
  const count = plansDueAt(runs.length)
  const pinned = tools.map((tool) => ({ id: idOf(tool), description: tool.description, input: unread.input }))
  const planner = openPlanner(fitPlans({ count, runs: runs.slice(0, count), tools: pinned }))
  const adviser = new Adviser({ knowledge: () => known, planner: () => planner, isShared: false, now: Date.now })
  const asker = { subject: null, servers: new Set([server]) }
  const ranking = (intent: string) => {
    const found = words(intent)
    const hints = adviser.hints(intent, asker, found)
    const all = [...found.keys(), ...recalledTools(hints, found)]
    const scored = all.map((id) => {
      const parts = { words: found.get(id) ?? 0, history: hints.history.get(id) ?? 0, context: 0, success: null }
      return { place: places.get(id)!, score: joinParts({ ...parts, ...plannedPart(hints.planned, id) }) }
    })
    return scored.sort((a, b) => b.score - a.score).map(({ place }) => place)
  }
  return {
    planner: planner.report.why,
    rank: ranking,
    async suggest(intent) {
      const { tools: ids, confidence, isKnown } = await adviser.foresight(intent, asker, words(intent))
      const chosen = isKnown ? ids.map((id) => places.get(id)!) : ranking(intent).slice(0, 1)
      const links = chosen.slice(1).map((tool, at): [number, number] => [chosen[at]!, tool])
      return { tools: chosen, links, confidence }
    },
  }
}
