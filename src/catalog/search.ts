/** Finds tools for an intent: exact names first, then by the words they share; says so when nothing fits. */
import { isObject, type Tool } from '#model'
import { type Bm25, bestOf, buildBm25, scoresOf } from './bm25.ts'
import { stem } from './stem.ts'
import { isStopWord, split, wordsOf } from './words.ts'

export type Query = { intent: string; filter?: { server?: string; effect?: string; minScore?: number }; limit: number }
export type Hit = { tool: Tool; score: number; why: string }
export type Found = { status: 'found' | 'nothing_fits'; results: Hit[]; unmatched: string[]; nearest: string[] }

export type Index = { tools: readonly Tool[]; bm25: Bm25; names: Map<string, number[]> }

/** Strongest first; a long description is held against its words more than a long name. */
const fields = [
  { name: 'name', weight: 3, length: 0.3, textOf: (tool: Tool) => tool.name },
  { name: 'description', weight: 1, length: 0.6, textOf: (tool: Tool) => tool.description },
  { name: 'parameters', weight: 0.5, length: 0.6, textOf: parametersOf },
  { name: 'server', weight: 0.5, length: 0, textOf: (tool: Tool) => tool.server },
] as const

/** Below this share of the query a tool does not fit. */
const scoreMin = 0.15
const nearestMax = 3

export function buildIndex(tools: readonly Tool[]): Index {
  const texts = tools.map((tool) => fields.map(({ textOf }) => wordsOf(textOf(tool))))
  const names = new Map<string, number[]>()
  for (const [place, tool] of tools.entries()) {
    for (const name of new Set([tool.name, tool.id].map(plainName)))
      names.set(name, [...(names.get(name) ?? []), place])
  }
  return { tools, bm25: buildBm25(texts, fields), names }
}

export function search(index: Index, { intent, filter = {}, limit }: Query): Found {
  const accepts = (place: number) => isWanted(index.tools[place]!, filter)
  const scores = scoresOf(index.bm25, new Set(wordsOf(intent)))
  for (const place of index.names.get(plainName(intent)) ?? []) scores[place] = 1
  const best = bestOf(scores, Math.max(limit, nearestMax), accepts)
  const least = Math.max(scoreMin, filter.minScore ?? 0)
  const fitting = best.filter((place) => scores[place]! >= least).slice(0, limit)
  const results = fitting.map((place) => hitOf(index.tools[place]!, scores[place]!, intent))
  const nearest = fitting.length > 0 ? [] : best.slice(0, nearestMax).map((place) => index.tools[place]!.id)
  return {
    status: results.length > 0 ? 'found' : 'nothing_fits',
    results,
    unmatched: unmatchedOf(index, intent),
    nearest,
  }
}

/** The same for `read_file`, `readFile`, `read-file` and "read file". */
function plainName(text: string): string {
  return split(text).join(' ')
}

function isWanted(tool: Tool, { server, effect }: NonNullable<Query['filter']>): boolean {
  if (server !== undefined && tool.server !== server) return false
  return effect === undefined || tool.effect === effect || tool.effect.startsWith(`${effect}:`)
}

function hitOf(tool: Tool, score: number, intent: string): Hit {
  const rounded = Math.round(score * 1000) / 1000
  if (score === 1) return { tool, score: 1, why: 'its name' }
  const asked = countingWords(intent)
  const reasons = fields.flatMap(({ name, textOf }) => {
    const here = new Set(wordsOf(textOf(tool)))
    const found = asked.filter((word) => here.has(stem(word)))
    return found.length === 0 ? [] : [`${name}: ${found.join(', ')}`]
  })
  return { tool, score: rounded, why: reasons.join('; ') }
}

function unmatchedOf({ bm25 }: Index, intent: string): string[] {
  return countingWords(intent).filter((word) => !bm25.words.has(stem(word)))
}

function countingWords(text: string): string[] {
  return [...new Set(split(text))].filter((word) => !isStopWord(word))
}

/** Names of the parameters and of what stands inside them. */
function parametersOf({ input }: Tool): string {
  return Object.keys(isObject(input.properties) ? input.properties : {}).join(' ')
}
