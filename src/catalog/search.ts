/** Finds tools for an intent: named ones first, then by the words they share; says so when nothing fits. */
import { limits, type Tool } from '#model'
import { bestOf, decree, occurrencesOf, rarityOf, weigh } from './bm25.ts'
import { behindSuccessors, byEvidence, type Ranked } from './deprecated.ts'
import { againstOf, whyOf } from './explain.ts'
import type { Index, Segment } from './indexer.ts'
import { purposeOf } from './intent.ts'
import { isCalledBy, named } from './names.ts'
import { type Status, statusOf } from './verdict.ts'
import { contentOf } from './words.ts'

export type Query = { intent: string; filter?: { server?: string; effect?: string; minScore?: number }; limit: number }
/** A brief one stands below the cut: an agent sees of it what it is called and its first sentence. */
export type Hit = { tool: Tool; score: number; why: string; brief: boolean }
/** `results` is the whole ranking up to the limit, also where nothing fits; `nearest` are then the ids of the first. */
export type Found = { status: Status; results: Hit[]; unmatched: string[]; nearest: string[] }

/**
 * Evidence becomes a score between 0 and 1 by what chance would give: among more tools some share a word by accident, and
 * in a long intent too.
 */
const chanceByTools = 0.1
const chanceByWords = 0.05
const nearestMax = 3
/** Less than the score of a tool that is called by its name, or nearly. */
const unnamedMax = 0.97
/** So many are never brief; of the others those whose score is below this share of the best. */
const fullMin = 3
const cutShare = 0.8

type Filter = NonNullable<Query['filter']>

export function search(index: Index, { intent, filter = {}, limit }: Query): Found {
  const chance = chanceOf(index, intent)
  const most = Math.max(limit, limits.searchWindowTools)
  const scored = rankedOf(index, intent, filter, most, chance).map(({ tool, evidence }) => ({
    tool,
    score: Math.round(1000 * scoreOf(evidence, chance)) / 1000,
  }))
  const shown = scored.filter(({ score }) => score >= (filter.minScore ?? 0)).slice(0, limit)
  const best = scored[0]?.score ?? null
  const status = shown.length === 0 ? 'nothing_fits' : statusOf(best)
  const unmatched = unmatchedOf(index, intent)
  const results = shown.map(({ tool, score }, at): Hit => {
    if (at >= fullMin && score < cutShare * best!) return { tool, score, why: '', brief: true }
    const why = whyOf(tool, score, intent)
    const against = status === 'found' ? [] : [againstOf(tool, intent, purposeOf(intent))]
    return { tool, score, why: [why, ...against].join('; '), brief: false }
  })
  const nearest = status === 'nothing_fits' ? scored.slice(0, nearestMax).map(({ tool }) => tool.id) : []
  return { status, results, unmatched, nearest }
}

function chanceOf({ tools }: Index, intent: string): number {
  return chanceByTools * Math.log(tools + 1) + chanceByWords * new Set(contentOf(intent)).size
}

function scoreOf(evidence: number, chance: number): number {
  return evidence === Number.POSITIVE_INFINITY ? 1 : evidence / (evidence + chance)
}

/** The evidence that makes this score. */
function evidenceFor(score: number, chance: number): number {
  return (score * chance) / (1 - score)
}

/** The best of every segment, best first; of equals the earlier. */
function rankedOf(index: Index, intent: string, filter: Filter, most: number, chance: number): Ranked[] {
  const terms = index.vocabulary.find(intent).map((form) => ({ form, worth: worthOf(index, form) }))
  const asked = index.segments.filter(({ server }) => filter.server === undefined || server === filter.server)
  const best = asked.flatMap((segment) => {
    const { evidence, tools } = segment
    weigh(segment, evidence, terms)
    for (const { places, score } of named(segment.names, intent))
      for (const place of places) decree(evidence, place, evidenceFor(score, chance))
    const found = bestOf(evidence, most, (place) => hasEffect(tools[place]!, filter.effect))
    return found.map((place) => ({ tool: tools[place]!, evidence: evidence.amounts[place]! }))
  })
  const toolsOf = (server: string) =>
    asked.find((segment) => segment.server === server)!.tools.filter((tool) => hasEffect(tool, filter.effect))
  const isCalled = (tool: Tool) => isCalledBy(tool, intent)
  return behindSuccessors(best.sort(byEvidence), toolsOf, isCalled, evidenceFor(unnamedMax, chance)).slice(0, most)
}

function worthOf({ vocabulary, segments, tools }: Index, form: number): number {
  const occurrences = segments.reduce((sum: number, segment: Segment) => sum + occurrencesOf(segment, form), 0)
  return rarityOf(occurrences, tools) * vocabulary.weights[form]!
}

function hasEffect(tool: Tool, effect: string | undefined): boolean {
  return effect === undefined || tool.effect === effect || tool.effect.startsWith(`${effect}:`)
}

/** The vocabulary also has words of tools that are gone. */
function unmatchedOf({ vocabulary, segments }: Index, intent: string): string[] {
  const isThere = (form: number) => segments.some((segment) => occurrencesOf(segment, form) > 0)
  return [...new Set(contentOf(intent))].filter((word) => !vocabulary.find(word).some(isThere))
}
