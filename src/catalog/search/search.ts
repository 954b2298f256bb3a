/**
 * Finds tools for an intent: named ones first, then by the words they share; says so when nothing
 * fits.
 */
import { contentWords, type Index, isCalledBy, matchByName, type Segment, stemOf } from '#catalog/index'
import { builtInServer, limits, type Tool } from '#model'
import { documentFrequency, scoreTools, topTools } from './bm25.ts'
import { coverageOf } from './coverage.ts'
import { behindSuccessors, byEvidence, type Ranked } from './deprecated.ts'
import { explainAgainst, explainFor } from './explain.ts'
import { purposeWords } from './intent.ts'
import { queryTerms, termWeight } from './query-terms.ts'
import { evidenceFor, featuresOf, type Occasion, type Status, scoreOf, statusOf, unnamedMax } from './verdict.ts'

export { nearTools } from './near-tools.ts'

export type Query = { intent: string; filter?: { server?: string; effect?: string; minScore?: number }; limit: number }
/**
 * A brief one stands below the cut: an agent sees of it what it is called and its first sentence.
 */
export type Hit = { tool: Tool; score: number; why: string; brief: boolean }
/**
 * `results` is the whole ranking up to the limit, also where nothing fits; `nearest` are then the
 * ids of the first.
 */
export type Found = { status: Status; results: Hit[]; unmatched: string[]; nearest: string[] }

const nearestMax = 3
/**
 * So many are never brief; of the others all that do not fit, or whose score is below this share of
 * the best.
 */
const fullMin = 3
const cutShare = 0.97
/** What a tool gains whose whole name is said in the intent, word by word. */
const nameShare = 0.2
/** Of so many candidates the one that covers most of the intent counts. */
const coveredTools = 5

type Filter = NonNullable<Query['filter']>

export function search(index: Index, { intent, filter = {}, limit }: Query): Found {
  const { ranked, occasion } = rank(index, intent, filter, limit)
  const scored = ranked.map(({ tool, evidence }) => ({
    tool,
    score: Math.round(1000 * scoreOf(evidence, occasion)) / 1000,
  }))
  const shown = scored.filter(({ score }) => score >= (filter.minScore ?? 0)).slice(0, limit)
  const best = scored[0]?.score
  const status = shown.length === 0 ? 'nothing_fits' : statusOf(best)
  const purpose = purposeWords(intent)
  const results = shown.map(({ tool, score }, at): Hit => {
    if (at >= fullMin && (statusOf(score) !== 'found' || score < cutShare * best!))
      return { tool, score, why: '', brief: true }
    const isFirst = at === 0
    const against = isFirst && status !== 'found' ? explainAgainst(tool, intent, purpose) : ''
    const reasons = [explainFor(tool, score, intent, isFirst), against]
    return { tool, score, why: reasons.filter(Boolean).join('; '), brief: false }
  })
  const nearest = status === 'nothing_fits' ? scored.slice(0, nearestMax).map(({ tool }) => tool.id) : []
  return { status, results, unmatched: unmatchedOf(index, intent), nearest }
}

/** The best tools with what speaks for each, best first, and what else their scores depend on. */
function rank(index: Index, intent: string, filter: Filter, limit: number): { ranked: Ranked[]; occasion: Occasion } {
  const asked = index.segments.filter(({ server }) => filter.server === undefined || server === filter.server)
  const accepts = (tool: Tool) => hasEffect(tool, filter.effect)
  const most = Math.max(limit, limits.searchWindowTools)
  const best = candidatesOf(index, asked, intent, most, accepts).sort(byEvidence).slice(0, most)
  const weighed = withNames(index, intent, best)
  const occasion = occasionOf(asked, intent, weighed)
  const named = namedIn(asked, intent, accepts, occasion)
  const evidenceMax = evidenceFor(unnamedMax, occasion)
  const unnamed = weighed
    .filter(({ tool }) => !named.has(tool))
    .map(({ tool, evidence }) => ({ tool, evidence: Math.min(evidenceMax, evidence) }))
  const ranked = [...[...named].map(([tool, evidence]) => ({ tool, evidence })), ...unnamed].sort(byEvidence)
  const toolsOf = (server: string) => asked.find((segment) => segment.server === server)!.tools.filter(accepts)
  const isCalled = (tool: Tool) => isCalledBy(tool, intent)
  return { ranked: behindSuccessors(ranked, toolsOf, isCalled, evidenceMax), occasion }
}

function occasionOf(segments: readonly Segment[], intent: string, ranked: readonly Ranked[]): Occasion {
  const words = purposeWords(intent)
  const first = ranked.slice(0, coveredTools).map(({ tool }) => tool)
  return {
    tools: segments.reduce((sum, { tools }) => sum + tools.length, 0),
    words: words.length,
    best: ranked[0]?.evidence ?? 0,
    coverage: coverageOf(first, intent, words),
    isBuiltIn: first[0]?.server === builtInServer,
  }
}

/** The features of the verdict over this intent, for fitting its model again. */
export function verdictFeatures(index: Index, intent: string): Record<string, number> {
  return featuresOf(rank(index, intent, {}, limits.discoverLimitDefault).occasion)
}

/** The best of every segment by their words. */
function candidatesOf(
  index: Index,
  segments: readonly Segment[],
  intent: string,
  most: number,
  accepts: (tool: Tool) => boolean,
): Ranked[] {
  const terms = queryTerms(index, intent)
  return segments.flatMap((segment) => {
    const { tools } = segment
    const evidence = scoreTools(segment, tools.length, terms)
    const found = topTools(evidence, most, (place) => accepts(tools[place]!))
    return found.map((place) => ({ tool: tools[place]!, evidence: evidence.amounts[place]! }))
  })
}

/**
 * What the intent calls by its name, however that is spelled, with the evidence that makes the
 * score of such a name.
 */
function namedIn(
  segments: readonly Segment[],
  intent: string,
  accepts: (tool: Tool) => boolean,
  occasion: Occasion,
): Map<Tool, number> {
  const found = new Map<Tool, number>()
  for (const { names, tools } of segments)
    for (const { places, score } of matchByName(names, intent))
      for (const place of places) if (accepts(tools[place]!)) found.set(tools[place]!, evidenceFor(score, occasion))
  return found
}

/**
 * The first of them gain by how much of their name the intent has; those after them keep their
 * place behind.
 */
function withNames(index: Index, intent: string, ranked: readonly Ranked[]): Ranked[] {
  const said = new Set(contentWords(intent).map(stemOf))
  const first = ranked.slice(0, limits.searchWindowTools).map(({ tool, evidence }) => ({
    tool,
    evidence: evidence * (1 + nameShare * shareSaid(index, tool, said)),
  }))
  const least = first.reduce((sum, { evidence }) => Math.min(sum, evidence), Number.POSITIVE_INFINITY)
  const rest = ranked.slice(first.length).map(({ tool, evidence }) => ({ tool, evidence: Math.min(least, evidence) }))
  return [...first.sort(byEvidence), ...rest]
}

/** How much of a tool's name is said, each word by its worth: from 0 to 1. */
function shareSaid(index: Index, { name }: Tool, said: ReadonlySet<string>): number {
  let [all, found] = [0, 0]
  for (const word of new Set(contentWords(name).map(stemOf))) {
    const [form] = index.vocabulary.find(word)
    const worth = form === undefined ? 0 : termWeight(index, form)
    all += worth
    if (said.has(word)) found += worth
  }
  return all === 0 ? 0 : found / all
}

function hasEffect(tool: Tool, effect: string | undefined): boolean {
  const { effects = [tool.effect] } = tool
  return effect === undefined || effects.some((one) => one === effect || one.startsWith(`${effect}:`))
}

/** The vocabulary also has words of tools that are gone. */
function unmatchedOf({ vocabulary, segments }: Index, intent: string): string[] {
  const isThere = (form: number) => segments.some((segment) => documentFrequency(segment, form) > 0)
  return [...new Set(contentWords(intent))].filter((word) => !vocabulary.find(word).some(isThere))
}
