/** Plans suggested from past ones: tools, links, ranking, calibration, beside the nearest plan. */
import { join } from 'node:path'
import {
  calibrationError,
  indexTexts,
  type KnownTool,
  learnPlans,
  type PastPlan,
  type SuggestedPlan,
  stemsOf,
} from '#learn'
import { readLines, type Section } from './read.ts'

type Item = { id: string; name: string; desc?: string }
type Line = { text: string; gold: string[]; links: { source: string; target: string }[] }
type Case = PastPlan & { links: [number, number][] }

/** Past plans that were seen, with the least node F1, link F1 and N@10. */
const steps: { count: number; nodes?: number; links?: number; ndcg?: number; error?: number }[] = [
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

type Suggest = (intent: string) => Omit<SuggestedPlan, 'confidence'>
type Rank = (intent: string) => number[]

function figuresOf(cases: Case[], suggest: Suggest, rank: Rank) {
  const made = cases.map((one) => ({ one, plan: suggest(one.intent) }))
  const set = (values: unknown[]) => new Set(values.map(String))
  return {
    nodes: 100 * mean(made.map(({ one, plan }) => f1(set(plan.tools), set(one.tools)))),
    links: 100 * mean(made.map(({ one, plan }) => f1(set(plan.links), set(one.links)))),
    'exact set': 100 * mean(made.map(({ one, plan }) => Number(f1(set(plan.tools), set(one.tools)) === 1))),
    'N@10': 100 * mean(cases.map((one) => ndcg(rank(one.intent), one.tools))),
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

export function benchPlans(folder: string): Section[] {
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
  return steps.map(({ count, nodes, links, ndcg, error }): Section => {
    const past = learn.slice(0, count)
    const planner = learnPlans(tools, past)
    const baseline = baselineOf(tools, past)
    const ours = figuresOf(cases, planner.suggest, (intent) => planner.rank(intent).map(({ tool }) => tool))
    const outcomes = cases.map((one) => {
      const { confidence, tools } = planner.suggest(one.intent)
      return { confidence, isRight: f1(new Set(tools.map(String)), new Set(one.tools.map(String))) === 1 }
    })
    const ece = calibrationError(outcomes)
    const bars = [
      { what: 'node F1', value: ours.nodes, least: nodes },
      { what: 'link F1', value: ours.links, least: links },
      { what: 'N@10', value: ours['N@10'], least: ndcg },
    ].flatMap(({ least, ...bar }) => (least === undefined ? [] : [{ ...bar, least }]))
    const rows = [
      { name: 'copy nearest; words and vote', figures: figuresOf(cases, baseline.suggest, baseline.rank) },
      { name: 'ours', figures: { ...ours, 'ECE %': 100 * ece } },
    ]
    const calibrated = error === undefined ? [] : [{ what: 'ECE of the confidence', value: ece, most: error }]
    return { title: `plans: after ${past.length} (${cases.length} intents)`, rows, bars: [...bars, ...calibrated] }
  })
}
