/**
 * Trains attention on past runs and holds it against the ranking without it, on later ones: each of
 * these is ranked from what was known before it, with and without, and the two are compared in
 * pairs. A pure function of the runs, so that the same record gives the same verdict.
 */
import { historyVotes, joinParts, openPastIntents } from '#learn/intents'
import { indexTexts, stemsOf } from '#learn/text'
import { limits } from '#model'
import { type AttentionModel, attend } from './attention-network.ts'
import { type AttentionState, intentTerms, sizeOfShare } from './attention-state.ts'
import { fitAttention } from './fit-attention.ts'

type Run = { intent: string | null; subject: string | null; status: string; tools: readonly string[] }

/** `count` is the number of runs at which it is judged; `texts` say what each tool is for. */
export type AttentionRequest = { count: number; runs: readonly Run[]; texts: Readonly<Record<string, string>> }

const gainPlaces = 10
/** Of a normal distribution, the bound that 97.5 % lie below. */
const deviations = 1.96

export function judgeAttention({ count, runs, texts }: AttentionRequest): AttentionState {
  const heldOut = Math.min(limits.attentionHeldOutMax, Math.floor(runs.length / 2))
  const before = runs.slice(0, runs.length - heldOut)
  const differences = compare(before, runs.slice(before.length), texts)
  const cases = differences.length
  const mean = (of: (one: Difference) => number) => differences.reduce((sum, one) => sum + of(one), 0) / (cases || 1)
  const gain = mean((one) => one.with - one.without)
  const variance = mean((one) => (one.with - one.without - gain) ** 2) * (cases / Math.max(1, cases - 1))
  const lower = gain - deviations * Math.sqrt(variance / Math.max(1, cases))
  const isAdmitted = cases >= limits.attentionCasesMin && lower > 0
  const figures = { with: mean((one) => one.with), without: mean((one) => one.without), lower }
  return { count, cases, ...figures, isAdmitted, model: isAdmitted ? train(runs, texts) : null }
}

type Difference = { with: number; without: number }

function compare(before: readonly Run[], later: readonly Run[], texts: Readonly<Record<string, string>>): Difference[] {
  const tools = toolsOf(before)
  if (tools.length < 2) return []
  const { model } = train(before, texts)
  const sharesOf = attend(model)
  const described = tools.map((tool) => textOf(tool, texts))
  const words = indexTexts(described)
  const past = openPastIntents(before)
  return later.flatMap((run): Difference[] => {
    const gold = new Set(run.tools)
    const intent = run.intent ?? ''
    const near = past.nearest(intent)
    past.add(run)
    if (run.status !== 'done' || !tools.some((tool) => gold.has(tool))) return []
    const history = historyVotes(near)
    const asked = stemsOf(intent)
    const [scores, self, shares] = [words.scores(asked), words.selfScore(asked), sharesOf(intentTerms(intent))]
    const parts = tools.map((tool, at) => {
      const said = Math.min(0.97, scores[at]! / self)
      return { words: said, history: history.get(tool) ?? 0, context: 0, success: null }
    })
    const without = rankGain(tools, parts.map(joinParts), gold)
    const attention = (at: number) => sizeOfShare(shares[at]!, tools.length)
    const ranked = parts.map((part, at) => joinParts({ ...part, attention: attention(at) }))
    return [{ without, with: rankGain(tools, ranked, gold) }]
  })
}

/** nDCG of the first ten. */
function rankGain(tools: readonly string[], scores: readonly number[], gold: ReadonlySet<string>): number {
  const discount = (place: number) => 1 / Math.log2(place + 2)
  const order = [...tools.keys()].sort((left, right) => scores[right]! - scores[left]!).slice(0, gainPlaces)
  const got = order.reduce((sum, tool, place) => sum + (gold.has(tools[tool]!) ? discount(place) : 0), 0)
  const best = [...gold].slice(0, gainPlaces).reduce((sum, _, place) => sum + discount(place), 0)
  return got / best
}

/** On the newest distinct intents: the same words with the same tools are one. */
function train(
  runs: readonly Run[],
  texts: Readonly<Record<string, string>>,
): { tools: string[]; model: AttentionModel } {
  const tools = toolsOf(runs)
  const numbers = new Map(tools.map((tool, at) => [tool, at]))
  const past = openPastIntents(runs)
    .all()
    .filter(({ done }) => done > 0)
    .slice(-limits.attentionCasesMax)
  const cases = past.map((one) => ({ terms: one.stems, tools: one.tools.map((tool) => numbers.get(tool)!) }))
  const sets = new Map(cases.map((one) => [[...one.tools].sort((a, b) => a - b).join(), one.tools]))
  const newest = [...sets.values()].slice(-limits.attentionSetsMax)
  return { tools, model: fitAttention({ tools: tools.map((tool) => textOf(tool, texts)), sets: newest, cases }) }
}

const toolsOf = (runs: readonly Run[]) => [...new Set(runs.flatMap(({ tools }) => tools))].sort()

const textOf = (tool: string, texts: Readonly<Record<string, string>>) =>
  [...new Set(stemsOf(`${tool} ${texts[tool] ?? ''}`))].slice(0, limits.learnIntentStemsMax)
