/**
 * Plans suggested from past ones, beside the nearest plan: tools, links, ranking and calibration of
 * discover and execute.
 */
import { join } from 'node:path'
import { calibrationError, indexTexts, stemsOf } from '#learn'
import { inProduct, type KnownTool, type PastPlan, type Suggested, wordsOfTools } from './in-product.ts'
import { type Bar, readLines, type Section } from './read.ts'

type Item = { id: string; name: string; desc?: string }
type Line = { text: string; gold: string[]; links: { source: string; target: string }[] }
type Case = PastPlan & { links: [number, number][] }

/** The least node F1, link F1 and N@10 after so many past plans. */
type Least = { nodes?: number; links?: number; ndcg?: number; error?: number }
const steps: (Least & { count: number })[] = [
  { count: 100, nodes: 69, links: 38, ndcg: 87 },
  { count: 500 },
  { count: Infinity, nodes: 84, links: 60, ndcg: 95, error: 0.05 },
]

function f1(found: Set<string>, truth: Set<string>): number {
  const right = found.intersection(truth).size
  return right === 0 ? 0 : (2 * right) / (found.size + truth.size)
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

function ndcg(found: number[], gold: number[]): number {
  const discount = (place: number) => 1 / Math.log2(place + 2)
  const gain = found.slice(0, 10).reduce((sum, tool, place) => sum + (gold.includes(tool) ? discount(place) : 0), 0)
  return gain / gold.slice(0, 10).reduce((sum, _, place) => sum + discount(place), 0)
}

type Suggest = (intent: string) => Suggested
type Rank = (intent: string) => number[]

async function figuresOf(cases: Case[], suggest: (intent: string) => Suggested | Promise<Suggested>, rank: Rank) {
  const made: { one: Case; plan: ReturnType<Suggest> }[] = []
  for (const one of cases) made.push({ one, plan: await suggest(one.intent) })
  const set = (values: unknown[]) => new Set(values.map(String))
  const isExact = ({ one, plan }: (typeof made)[number]) => f1(set(plan.tools), set(one.tools)) === 1
  const outcomes = made.flatMap((each) =>
    each.plan.confidence === undefined ? [] : [{ confidence: each.plan.confidence, isRight: isExact(each) }],
  )
  return {
    nodes: 100 * mean(made.map(({ one, plan }) => f1(set(plan.tools), set(one.tools)))),
    links: 100 * mean(made.map(({ one, plan }) => f1(set(plan.links), set(one.links)))),
    'exact set': 100 * mean(made.map((each) => Number(isExact(each)))),
    'N@10': 100 * mean(cases.map((one) => ndcg(rank(one.intent), one.tools))),
    ...(outcomes.length === 0 ? {} : { 'ECE %': 100 * calibrationError(outcomes) }),
  }
}

function baselineOf(tools: KnownTool[], past: Case[]): { suggest: Suggest; rank: Rank } {
  const intents = indexTexts(past.map(({ intent }) => stemsOf(intent)))
  const described = indexTexts(tools.map(({ name, description }) => stemsOf(`${name} ${description}`)))
  const nearest = (intent: string) => {
    const scores = intents.scores(stemsOf(intent))
    return [...scores.keys()]
      .sort((a, b) => scores[b]! - scores[a]!)
      .slice(0, 10)
      .map((at) => ({ plan: past[at]!, score: scores[at]! }))
  }
  const rank = (intent: string) => {
    const words = described.scores(stemsOf(intent))
    const top = Math.max(...words) || 1
    const near = nearest(intent)
    const votes = new Float64Array(tools.length)
    for (const { plan, score } of near)
      for (const tool of plan.tools) votes[tool]! += (score / (near[0]!.score || 1)) ** 3
    const most = Math.max(...votes) || 1
    const total = words.map((score, tool) => score / top + votes[tool]! / most)
    return [...total.keys()].sort((a, b) => total[b]! - total[a]!)
  }
  return { suggest: (intent) => nearest(intent)[0]!.plan, rank }
}

export async function benchPlans(folder: string): Promise<Section[]> {
  const place = join(folder, 'plans/ultratool')
  const items = readLines<Item>(join(place, 'corpus.jsonl'))
  const tools = items.map(({ id, name, desc = '' }) => ({ id, name, description: desc }))
  const numbers = new Map(tools.map(({ id }, at) => [id, at]))
  const toCase = ({ text, gold, links }: Line): Case => ({
    intent: text,
    tools: gold.map((id) => numbers.get(id)!),
    links: links.map(({ source, target }) => [numbers.get(source)!, numbers.get(target)!]),
  })
  const learn = readLines<Line>(join(place, 'learn.jsonl')).map(toCase)
  const cases = readLines<Line>(join(place, 'try.jsonl')).map(toCase)
  const words = wordsOfTools(tools)
  const sections: Section[] = []
  for (const { count, ...least } of steps) {
    const past = learn.slice(0, count)
    const product = inProduct(tools, past, words)
    const baseline = baselineOf(tools, past)
    const figures = await figuresOf(cases, product.suggest, product.rank)
    const rows = [
      { name: 'copy nearest; words and vote', figures: await figuresOf(cases, baseline.suggest, baseline.rank) },
      { name: 'ours: discover, execute', figures },
    ]
    const title = `plans: after ${past.length} (${cases.length} intents); the planner is used: ${product.planner}`
    sections.push({ title, rows, bars: barsOf(figures, least) })
  }
  return sections
}

function barsOf(figures: Record<string, number>, { nodes, links, ndcg, error }: Least): Bar[] {
  const least = { nodes, links, 'N@10': ndcg }
  const bars = Object.entries(least).flatMap(([what, value]) =>
    value === undefined ? [] : [{ what, value: figures[what]!, least: value }],
  )
  return error === undefined ? bars : [...bars, { what: 'ECE %', value: figures['ECE %']!, most: 100 * error }]
}
