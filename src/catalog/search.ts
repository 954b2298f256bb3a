/** Finds tools for an intent: named ones first, then by the words they share; says so when nothing fits. */
import type { Tool } from '#model'
import { bestOf, decree, occurrencesOf, rarityOf, weigh } from './bm25.ts'
import type { Index, Segment } from './indexer.ts'
import { kinOf } from './kin.ts'
import { named } from './names.ts'
import { fields } from './texts.ts'
import { comparable, contentOf } from './words.ts'

export type Query = { intent: string; filter?: { server?: string; effect?: string; minScore?: number }; limit: number }
export type Hit = { tool: Tool; score: number; why: string }
export type Found = { status: 'found' | 'nothing_fits'; results: Hit[]; unmatched: string[]; nearest: string[] }

/**
 * Evidence becomes a score between 0 and 1 by what chance would give: among more tools some share a word by accident, and
 * in a long intent too. The constants were chosen on the sets that bench/retrieval.ts calls seen, so that about 93 in 100
 * right answers are kept; what they do to sets that were not seen, it says too.
 */
const chanceByTools = 0.1
const chanceByWords = 0.05
const scoreMin = 0.36
const nearestMax = 3

type Filter = NonNullable<Query['filter']>
type Candidate = { tool: Tool; evidence: number }

export function search(index: Index, { intent, filter = {}, limit }: Query): Found {
  const chance = chanceOf(index, intent)
  const best = candidatesOf(index, intent, filter, Math.max(limit, nearestMax), chance)
  const scored = best.map(({ tool, evidence }) => ({ tool, score: scoreOf(evidence, chance) }))
  const fitting = scored.filter(({ score }) => score >= (filter.minScore ?? scoreMin)).slice(0, limit)
  const results = fitting.map(({ tool, score }) => hitOf(tool, score, intent))
  const nearest = fitting.length > 0 ? [] : scored.slice(0, nearestMax).map(({ tool }) => tool.id)
  const status = fitting.length > 0 ? 'found' : 'nothing_fits'
  return { status, results, unmatched: unmatchedOf(index, intent), nearest }
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
function candidatesOf(index: Index, intent: string, filter: Filter, most: number, chance: number): Candidate[] {
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
  return best.sort(byEvidence).slice(0, most)
}

function byEvidence({ evidence: left }: Candidate, { evidence: right }: Candidate): number {
  return left === right ? 0 : left < right ? 1 : -1
}

function worthOf({ vocabulary, segments, tools }: Index, form: number): number {
  const occurrences = segments.reduce((sum: number, segment: Segment) => sum + occurrencesOf(segment, form), 0)
  return rarityOf(occurrences, tools) * vocabulary.weights[form]!
}

function hasEffect(tool: Tool, effect: string | undefined): boolean {
  return effect === undefined || tool.effect === effect || tool.effect.startsWith(`${effect}:`)
}

/** `why` says which words of the intent were found where, or which of their kin. */
function hitOf(tool: Tool, score: number, intent: string): Hit {
  const asked = [...new Set(contentOf(intent))].map((word) => ({
    word,
    root: comparable(word),
    kin: kinOf(comparable(word)),
  }))
  const found = new Map<string, Set<string>>()
  for (const { name, textOf } of fields) {
    const here = contentOf(textOf(tool))
    const roots = new Set(here.map(comparable))
    for (const { word, root, kin } of asked) {
      const other =
        roots.has(root) || kin === undefined ? undefined : here.find((each) => kinOf(comparable(each)) === kin)
      const reason = roots.has(root) ? word : other === undefined ? null : `${word} as ${other}`
      if (reason !== null) found.set(name, (found.get(name) ?? new Set()).add(reason))
    }
  }
  const reasons = [...found].map(([name, words]) => `${name}: ${[...words].join(', ')}`)
  const rounded = Math.round(score * 1000) / 1000
  if (rounded >= 0.98) reasons.unshift(rounded >= 0.995 ? 'this is its name' : 'this is nearly its name')
  return { tool, score: rounded, why: reasons.join('; ') }
}

/** The vocabulary also has words of tools that are gone. */
function unmatchedOf({ vocabulary, segments }: Index, intent: string): string[] {
  const isThere = (form: number) => segments.some((segment) => occurrencesOf(segment, form) > 0)
  return [...new Set(contentOf(intent))].filter((word) => !vocabulary.find(word).some(isThere))
}
