/** Ranks the tools that an intent may mean, and finds the sets that it most likely needs. */
import { type Blend, fitBlend, predictBlend } from '#learn/models'
import { type Evidence, positiveFeatures } from './evidence.ts'

export type Ranked = { tool: string; share: number }
const joinOptions = { trees: { trees: 100, depth: 3, rate: 0.1, leafWeightMin: 3, l2: 3 }, l2: 3 }
/** How much a set gains that near intents used just so: sets recur more than their parts do. */
const supportBonus = 0.5
/** How much it gains for the probability that it is exactly right, were tools independent. */
const exactBonus = 0.5
const shareMin = 1e-3
const [topMax, addedMax, changedMax, setsMax] = [6, 4, 8, 16]

export function fitJoin(rows: readonly number[][], labels: readonly number[]): Blend {
  return fitBlend(rows, labels, joinOptions, curved)
}

export function rankTools(join: Blend, { candidates }: Evidence): Ranked[] {
  const ranked = [...candidates].map(([tool, features]) => ({ tool, share: predictBlend(join, features, curved) }))
  return ranked.sort((a, b) => b.share - a.share || (a.tool < b.tool ? -1 : 1))
}

const curved = (features: readonly number[]) => [
  ...features,
  ...positiveFeatures.map((at) => Math.log(0.02 + features[at]!)),
]

/** The best first, by expected F1: of near plans, changes of these, and what ranks first. */
export function likelySets(ranked: readonly Ranked[], { neighbours }: Evidence) {
  const shares = new Map(ranked.map(({ tool, share }) => [tool, share]))
  const all = ranked.reduce((sum, { share }) => sum + share, 0)
  const sets = new Map<string, readonly string[]>()
  const add = (tools: readonly string[]) => sets.set(keyOfTools(tools), [...new Set(tools)])
  const support = supportOf(neighbours)
  for (const { tools } of neighbours) add(tools)
  const top = ranked.slice(0, topMax).map(({ tool }) => tool)
  for (let count = 1; count <= top.length; count++) add(top.slice(0, count))
  for (const [at, first] of top.entries()) for (const second of top.slice(at + 1)) add([first, second])
  for (const { tools } of neighbours.slice(0, changedMax)) {
    for (const tool of top.slice(0, addedMax)) add([...tools, tool])
    if (tools.length > 1) for (const tool of tools) add(tools.filter((other) => other !== tool))
  }
  const logOf = (share: number) => Math.log(Math.max(shareMin, share))
  const none = ranked.reduce((sum, { share }) => sum + logOf(1 - share), 0)
  const exactly = (tools: readonly string[]) => {
    const gain = (share = 0) => logOf(share) - logOf(1 - share)
    return Math.exp(tools.reduce((sum, tool) => sum + gain(shares.get(tool)), none))
  }
  const found = [...sets].map(([key, tools]) => {
    const hits = tools.reduce((sum, tool) => sum + (shares.get(tool) ?? 0), 0)
    const own = { key, tools, support: support.get(key) ?? 0, exact: exactly(tools) }
    return { ...own, score: (2 * hits) / (tools.length + all) + supportBonus * own.support + exactBonus * own.exact }
  })
  return found.sort((a, b) => b.score - a.score).slice(0, setsMax)
}

export const keyOfTools = (tools: readonly string[]) => [...new Set(tools)].sort().join('\0')

/** Which tool runs right before which. */
export const linksOf = (tools: readonly string[]): Set<string> =>
  new Set(tools.slice(1).map((tool, at) => `${tools[at]}\0${tool}`))

/** F1 of what was found. */
export function shareRight(found: ReadonlySet<string>, truth: ReadonlySet<string>): number {
  return (2 * found.intersection(truth).size) / Math.max(1, found.size + truth.size)
}

/** The weight of the neighbours that used exactly a set, by set, of one in all. */
function supportOf(neighbours: Evidence['neighbours']): Map<string, number> {
  const support = new Map<string, number>()
  for (const { tools, share } of neighbours) {
    const key = keyOfTools(tools)
    support.set(key, (support.get(key) ?? 0) + share)
  }
  return support
}

/** What tells whether a chosen set is exactly right. */
export function surenessOf(chosen: readonly string[], ranked: readonly Ranked[], evidence: Evidence): number[] {
  const own = new Set(chosen)
  const inside = ranked.filter(({ tool }) => own.has(tool)).map(({ share }) => share)
  const outside = ranked.filter(({ tool }) => !own.has(tool)).map(({ share }) => share)
  const logOf = (share: number) => Math.log(Math.max(1e-4, share))
  const inLog = inside.reduce((sum, share) => sum + logOf(share), 0)
  const outLog = outside.reduce((sum, share) => sum + logOf(1 - share), 0)
  const support = supportOf(evidence.neighbours).get(keyOfTools(chosen)) ?? 0
  const [least, most] = [Math.min(1, ...inside), Math.max(0, ...outside)]
  return [inLog + outLog, inLog, outLog, least, most, support, evidence.nearest, chosen.length]
}
