/**
 * How much an intent and the best candidates are about the same. In a foreign catalogue some tool
 * may have one rare word of an intent; the other words then stay uncovered, and of what the tool
 * says that it does, little is asked for.
 */
import { contentWords, searchFields, stemOf, synonymGroup, wordWeight } from '#catalog/index'
import type { Tool } from '#model'
import { relatedWords } from './related-words.ts'

/** Each is that of the tool which has most of it; words count by their weight in general use. */
export type Coverage = {
  /** The words of the intent that a tool has: their share of all, from 0 to 1, and their sum. */
  share: number
  mass: number
  /** The words that are said of a tool's name, and of its name and first sentence. */
  name: number
  core: number
  /** Pairs of words that stand side by side in the intent and in a tool, beside all its words. */
  phrases: number
}

/** What a synonym and a related word count beside the word itself. */
const synonymShare = 0.4
const relatedShare = 0.3

/** `words` are those that say what is to be done. */
export function coverageOf(tools: readonly Tool[], intent: string, words: readonly string[]): Coverage {
  const order = contentWords(intent).map(stemOf)
  const said = new Set(order)
  const wanted = wantedOf(intent, words)
  const total = wanted.reduce((sum, { weight }) => sum + weight, 0)
  const most = (of: (text: ToolText) => number) => Math.max(0, ...texts.map(of))
  const saidOf = (stems: ReadonlySet<string>) =>
    [...stems].reduce((sum, stem) => sum + (said.has(stem) ? worth(stem) : 0), 0)
  const texts = tools.map(textOf)
  const mass = most((text) => massOf(text, wanted))
  return {
    share: total === 0 ? 0 : mass / total,
    mass,
    name: most(({ name }) => saidOf(name)),
    core: most(({ core }) => saidOf(core)),
    phrases: most(({ pairs }) => phrasesOf(order, pairs)) / (words.length + 1),
  }
}

type Wanted = { stem: string; weight: number; others: string[] }

function wantedOf(intent: string, words: readonly string[]): Wanted[] {
  const related = Map.groupBy(relatedWords(intent), ({ word }) => word)
  return words.map((word) => {
    const stem = stemOf(word)
    return { stem, weight: worth(stem), others: (related.get(word) ?? []).map(({ other }) => stemOf(other)) }
  })
}

const worth = (stem: string) => wordWeight(stem) ** 2

function massOf({ fields, groups }: ToolText, wanted: readonly Wanted[]): number {
  return wanted.reduce((sum, { stem, weight, others }) => {
    const field = fields.get(stem)
    if (field !== undefined) return sum + weight * Math.min(1, (1 + field) / 2)
    if (groups.has(synonymGroup(stem))) return sum + weight * synonymShare
    return others.some((other) => fields.has(other)) ? sum + weight * relatedShare : sum
  }, 0)
}

function phrasesOf(order: readonly string[], pairs: ReadonlySet<string>): number {
  const found = new Map<string, number>()
  for (const [stem, next] of neighbours(order))
    if (stem !== next && pairs.has(`${stem} ${next}`)) found.set(`${stem} ${next}`, wordWeight(stem) * wordWeight(next))
  return [...found.values()].reduce((sum, weight) => sum + weight, 0)
}

function neighbours(stems: readonly string[]): [string, string][] {
  return stems.slice(1).map((next, at) => [stems[at]!, next])
}

type ToolText = {
  /** By stem the weight of the strongest field that has it; and the groups of their synonyms. */
  fields: Map<string, number>
  groups: Set<string | undefined>
  name: Set<string>
  core: Set<string>
  /** In either order. */
  pairs: Set<string>
}

function textOf(tool: Tool): ToolText {
  const stemsOf = (text: string) => contentWords(text).map(stemOf)
  const fields = new Map<string, number>()
  for (const { weight, textOf } of searchFields)
    for (const stem of stemsOf(textOf(tool))) if (!fields.has(stem)) fields.set(stem, weight)
  const groups = new Set([...fields.keys()].map(synonymGroup))
  groups.delete(undefined)
  const [name, description] = [stemsOf(tool.name), stemsOf(tool.description)]
  const sentence = /^.+?[.!?](?=\s|$)/s.exec(tool.description)?.[0] ?? tool.description
  const pairs = [...neighbours(name), ...neighbours(description)].flatMap(([one, next]) => [
    `${one} ${next}`,
    `${next} ${one}`,
  ])
  return { fields, groups, name: new Set(name), core: new Set([...name, ...stemsOf(sentence)]), pairs: new Set(pairs) }
}
