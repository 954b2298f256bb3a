/** Finds tools for an intent: named ones first, then by the words they share; says so when nothing fits. */
import { isObject, limits, type Tool } from '#model'
import { type Bm25, bestOf, buildBm25, evidenceOf } from './bm25.ts'
import { buildNames, type Names, named } from './names.ts'
import { comparable, contentOf, genericWords, wordsOf } from './words.ts'

export type Query = { intent: string; filter?: { server?: string; effect?: string; minScore?: number }; limit: number }
export type Hit = { tool: Tool; score: number; why: string }
export type Found = { status: 'found' | 'nothing_fits'; results: Hit[]; unmatched: string[]; nearest: string[] }
export type Index = { tools: readonly Tool[]; bm25: Bm25; names: Names }

/** Strongest first; a long description is held against its words more than a long name. */
const fields = [
  { name: 'name', weight: 3, length: 0.3, textOf: (tool: Tool) => tool.name },
  { name: 'description', weight: 1, length: 0.6, textOf: (tool: Tool) => tool.description },
  { name: 'parameters', weight: 0.5, length: 0.6, textOf: (tool: Tool) => parametersOf(tool).join(' ') },
  { name: 'parameters', weight: 0.3, length: 0.6, textOf: (tool: Tool) => parameterTextsOf(tool).join(' ') },
  { name: 'result', weight: 0.3, length: 0.6, textOf: (tool: Tool) => resultsOf(tool).join(' ') },
  { name: 'server', weight: 0.3, length: 0, textOf: (tool: Tool) => tool.server },
] as const

/**
 * Evidence becomes a score between 0 and 1 by what chance would give: among more tools some share a word by accident, and
 * in a long intent too. The constants were chosen on the sets that bench/retrieval.ts calls seen, so that about 95 in 100
 * right answers are kept; what they do to sets that were not seen, it says too.
 */
const chanceByTools = 0.15
const chanceByWords = 0.05
const scoreMin = 0.3
const writtenShare = 0.2
const genericShare = 0.6
const nearestMax = 3

export function buildIndex(tools: readonly Tool[]): Index {
  const texts = tools.map((tool) => fields.map(({ textOf }) => formsOf(textOf(tool))))
  const bm25 = buildBm25(texts, fields)
  for (const [form, word] of bm25.words) bm25.rarities[word]! *= weightOf(form)
  return { tools, bm25, names: buildNames(tools) }
}

/** Each word by its stem and, so that "store" is nearer to "store" than to "stored", also as it is written. */
function formsOf(text: string): string[] {
  return contentOf(text).flatMap((word) => [comparable(word), `=${word}`])
}

function weightOf(form: string): number {
  const written = form.startsWith('=')
  const generic = genericWords.has(written ? comparable(form.slice(1)) : form)
  return (written ? writtenShare : 1 - writtenShare) * (generic ? genericShare : 1)
}

export function search(index: Index, { intent, filter = {}, limit }: Query): Found {
  const scores = scoresOf(index, intent)
  const best = bestOf(scores, Math.max(limit, nearestMax), (place) => isWanted(index.tools[place]!, filter))
  const fitting = best.filter((place) => scores[place]! >= (filter.minScore ?? scoreMin)).slice(0, limit)
  const results = fitting.map((place) => hitOf(index.tools[place]!, scores[place]!, intent))
  const nearest = fitting.length > 0 ? [] : best.slice(0, nearestMax).map((place) => index.tools[place]!.id)
  const status = fitting.length > 0 ? 'found' : 'nothing_fits'
  return { status, results, unmatched: unmatchedOf(index, intent), nearest }
}

function scoresOf({ tools, bm25, names }: Index, intent: string): Float32Array {
  const forms = new Set(formsOf(intent))
  const chance = chanceByTools * Math.log(tools.length + 1) + (chanceByWords * forms.size) / 2
  const scores = evidenceOf(bm25, forms)
  for (let place = 0; place < scores.length; place++) {
    if (scores[place]! > 0) scores[place] = scores[place]! / (scores[place]! + chance)
  }
  const { places, score } = named(names, intent)
  for (const place of places) scores[place] = score
  return scores
}

function isWanted(tool: Tool, { server, effect }: NonNullable<Query['filter']>): boolean {
  if (server !== undefined && tool.server !== server) return false
  return effect === undefined || tool.effect === effect || tool.effect.startsWith(`${effect}:`)
}

/** `why` says which words of the intent were found where. */
function hitOf(tool: Tool, score: number, intent: string): Hit {
  const asked = contentOf(intent)
  const found = new Map<string, Set<string>>()
  for (const { name, textOf } of fields) {
    const here = new Set(wordsOf(textOf(tool)))
    for (const word of asked) if (here.has(comparable(word))) found.set(name, (found.get(name) ?? new Set()).add(word))
  }
  const reasons = [...found].map(([name, words]) => `${name}: ${[...words].join(', ')}`)
  if (score >= 0.98) reasons.unshift(score === 1 ? 'this is its name' : 'this is nearly its name')
  return { tool, score: Math.round(score * 1000) / 1000, why: reasons.join('; ') }
}

function unmatchedOf({ bm25 }: Index, intent: string): string[] {
  return [...new Set(contentOf(intent))].filter((word) => !bm25.words.has(comparable(word)))
}

/** The names that its result has, by its own word or as they were seen. */
function resultsOf({ output, observed }: Tool): string[] {
  return namesIn(output ?? observed, limits.shapeDepthMax)
}

function namesIn(schema: unknown, depth: number): string[] {
  if (!isObject(schema) || depth === 0) return []
  const { properties, items } = schema
  const members = Object.entries(isObject(properties) ? properties : {})
  return [...members.flatMap(([name, member]) => [name, ...namesIn(member, depth - 1)]), ...namesIn(items, depth - 1)]
}

function parametersOf({ input }: Tool): string[] {
  return isObject(input.properties) ? Object.keys(input.properties) : []
}

function parameterTextsOf({ input }: Tool): string[] {
  const schemas = isObject(input.properties) ? Object.values(input.properties) : []
  return schemas.flatMap((schema) =>
    isObject(schema) && typeof schema.description === 'string' ? [schema.description] : [],
  )
}
