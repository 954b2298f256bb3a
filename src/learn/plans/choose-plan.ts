/**
 * Chooses tools and their order together: of likely sets, each in its likeliest order, the one that
 * will have most tools and links right, as past plans show it that were foreseen unseen.
 */
import { type Blend, fitBlend, predictBlend } from '#learn/models'
import { keyOfTools, likelySets, linksOf, type Ranked, shareRight } from './choose-tools.ts'
import type { Evidence } from './evidence.ts'
import type { PairReader } from './pair-features.ts'

export type ChoiceModel = {
  /** Whether one tool runs right before another one. */
  links: Blend
  /** Which part of a plan will be right. */
  worth: Blend
}

/** An intent as it is foreseen. */
type Foreseen = { ranked: readonly Ranked[]; evidence: Evidence; pairs: PairReader }

const linkOptions = { trees: { trees: 60, depth: 4, rate: 0.1, leafWeightMin: 3, l2: 3 }, l2: 3 }
const worthOptions = { trees: { trees: 80, depth: 4, rate: 0.1, leafWeightMin: 10, l2: 5 }, l2: 20 }
/** A few past plans say nothing about what belongs together beyond each feature alone. */
const fewPlans = 300
const [topMax, nearMax] = [6, 5]
const [permutedMax, sameSetMax] = [5, 8]

export function fitChoice(plans: readonly (Foreseen & { tools: readonly string[] })[]): ChoiceModel {
  const isFew = plans.length < fewPlans
  const pairs = plans.flatMap((plan) => {
    const { evidence, ranked } = plan
    const near = evidence.neighbours.slice(0, nearMax).flatMap(({ tools }) => tools)
    const pool = [...new Set([...ranked.slice(0, topMax).map(({ tool }) => tool), ...near])]
    const [read, links] = [openLinks(plan, pool), linksOf(plan.tools)]
    return pool.flatMap((first) =>
      pool.flatMap((second) =>
        first === second ? [] : [{ row: read(first, second), label: Number(links.has(`${first}\0${second}`)) }],
      ),
    )
  })
  const fit = (cases: readonly { row: number[]; label: number }[], options: typeof linkOptions) =>
    fitBlend(
      cases.map(({ row }) => row),
      cases.map(({ label }) => label),
      { ...options, trees: isFew ? null : options.trees },
    )
  const links = fit(pairs, linkOptions)
  const choices = plans.flatMap((plan) =>
    choicesOf(links, plan).map(({ tools, row }) => ({ row, label: worthOf(tools, plan.tools) })),
  )
  return { links, worth: fit(choices, worthOptions) }
}

export function choosePlan({ links, worth }: ChoiceModel, foreseen: Foreseen): readonly string[] {
  let best: { tools: readonly string[]; score: number } = { tools: [], score: -1 }
  for (const { tools, row } of choicesOf(links, foreseen)) {
    const score = predictBlend(worth, row)
    if (score > best.score) best = { tools, score }
  }
  return best.tools
}

/** The part of a plan that is right: half for its tools, half for their links. */
function worthOf(found: readonly string[], truth: readonly string[]): number {
  return (shareRight(new Set(found), new Set(truth)) + shareRight(linksOf(found), linksOf(truth))) / 2
}

type LinkReader = (first: string, second: string) => number[]

function openLinks({ ranked, evidence, pairs }: Foreseen, tools: readonly string[]): LinkReader {
  const shares = new Map(ranked.map(({ tool, share }) => [tool, share]))
  const features = pairs(tools, evidence)
  const [beside, linked] = [new Map<string, number>(), new Map<string, number>()]
  const count = (counts: Map<string, number>, key: string, weight: number) =>
    counts.set(key, (counts.get(key) ?? 0) + weight)
  for (const { tools: used, share } of evidence.neighbours) {
    for (const key of linksOf(used)) count(linked, key, share)
    for (const first of used) for (const second of used) count(beside, `${first}\0${second}`, share)
  }
  return (first, second) => {
    const [left, right] = [shares.get(first) ?? 0, shares.get(second) ?? 0]
    const [forth, back] = [`${first}\0${second}`, `${second}\0${first}`]
    const near = [linked.get(forth) ?? 0, linked.get(back) ?? 0, beside.get(forth) ?? 0, evidence.nearest]
    return [...features(first, second), left, right, Math.min(left, right), left * right, ...near]
  }
}

type Choice = { tools: readonly string[]; row: number[] }

/** Likely sets in their likeliest order, and as near plans had them, each with its features. */
function choicesOf(model: Blend, foreseen: Foreseen): Choice[] {
  const { ranked, evidence } = foreseen
  const sets = likelySets(ranked, evidence)
  const read = openLinks(foreseen, [...new Set(sets.flatMap(({ tools }) => tools))])
  const known = new Map<string, number>()
  const linkOf = (first: string, second: string) => {
    const key = `${first}\0${second}`
    const share = known.get(key) ?? predictBlend(model, read(first, second))
    known.set(key, share)
    return share
  }
  const choices = new Map<string, Choice>()
  for (const set of sets) {
    const same = evidence.neighbours.slice(0, sameSetMax).filter(({ tools }) => keyOfTools(tools) === set.key)
    for (const tools of [likeliestOrder(set.tools, linkOf), ...same.map(({ tools }) => tools)]) {
      const links = tools.slice(1).map((tool, at) => linkOf(tools[at]!, tool))
      choices.set(tools.join('\0'), { tools, row: choiceFeatures(tools, set, links, foreseen) })
    }
  }
  return [...choices.values()]
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

function choiceFeatures(
  tools: readonly string[],
  { key, score, support, exact }: ReturnType<typeof likelySets>[number],
  links: readonly number[],
  { ranked, evidence: { neighbours, nearest } }: Foreseen,
): number[] {
  const all = sumOf(ranked.map(({ share }) => share))
  const [inside, outside] = [
    ranked.filter(({ tool }) => tools.includes(tool)),
    ranked.find(({ tool }) => !tools.includes(tool)),
  ]
  const shares = tools.map((tool) => inside.find((one) => one.tool === tool)?.share ?? 0)
  const [hits, linked] = [sumOf(shares), sumOf(links)]
  const sameSet = neighbours.filter((one) => keyOfTools(one.tools) === key)
  const sameOrder = sameSet.filter((one) => one.tools.every((tool, at) => tool === tools[at]))
  const most = (plans: typeof neighbours) => nearest * Math.max(0, ...plans.map(({ weight }) => weight))
  return [
    (2 * hits) / (tools.length + all),
    Math.log(exact + 1e-6),
    support,
    sumOf(sameOrder.map(({ share }) => share)),
    most(sameOrder),
    most(sameSet),
    Math.min(...shares),
    outside?.share ?? 0,
    hits,
    all - hits,
    tools.length,
    linked,
    (2 * linked) / Math.max(1, tools.length + all - 2),
    Math.min(1, ...links),
    sumOf(links.map((share) => Math.log(share + 1e-4))),
    nearest,
    score,
  ]
}

/** The path through all tools whose links are likeliest; many keep the order in which they rank. */
function likeliestOrder(
  tools: readonly string[],
  linkOf: (first: string, second: string) => number,
): readonly string[] {
  if (tools.length > permutedMax) return tools
  let best = { order: tools, score: -1 }
  const extend = (order: readonly string[], score: number) => {
    if (order.length === tools.length && score > best.score) best = { order, score }
    for (const tool of tools) {
      const last = order.at(-1)
      if (!order.includes(tool)) extend([...order, tool], last === undefined ? 0 : score + linkOf(last, tool))
    }
  }
  extend([], 0)
  return best.order
}
