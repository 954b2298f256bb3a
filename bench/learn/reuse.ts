/**
 * Intents as a stream: is this one an old one with other values, and which are the values? Beside
 * the nearest intent by words and the difference of tokens.
 */
import { join } from 'node:path'
import {
  alignWords,
  fillSlots,
  fitLogistic,
  type Habit,
  habitFeatures,
  type Logistic,
  predictLogistic,
  type ReadIntent,
  readIntent,
  recallIntent,
  wordsOf,
} from '#learn'
import { readLines, type Section } from './read.ts'

type Line = { intent: string; template_id: number; slots: Record<string, unknown> }
type Entry = Line & { read: ReadIntent }
type Step = {
  entry: Entry
  rows: ReturnType<typeof habitFeatures>
  habits: Habit[]
  isKnown: boolean
  members: Entry[]
}

const l2 = 8
const folds = 5
const seeds = [1, 2, 3]
const confidenceMin = 0.6

const readEntries = (folder: string) =>
  readLines<Line>(join(folder, 'reuse/webarena.jsonl')).map(
    (line): Entry => ({ ...line, read: readIntent(line.intent) }),
  )

/** The same order for the same seed. */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const copy = [...items]
  let state = seed
  for (let at = copy.length - 1; at > 0; at--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const to = Math.floor((state / 2 ** 32) * (at + 1))
    ;[copy[at], copy[to]] = [copy[to]!, copy[at]!]
  }
  return copy
}

function streamOf(entries: readonly Entry[], seed: number): Step[] {
  const groups = new Map<number, Entry[]>()
  const steps: Step[] = []
  for (const entry of shuffled(entries, seed)) {
    const members = groups.get(entry.template_id) ?? []
    if (groups.size > 0) {
      const habits = [...groups].map(
        ([id, group]): Habit => ({ id: String(id), intents: group.map(({ read }) => read) }),
      )
      const rows = habitFeatures(entry.read, habits)
      steps.push({ entry, rows, habits, isKnown: members.length > 0, members: [...members] })
    }
    groups.set(entry.template_id, [...members, entry])
  }
  return steps
}

function fitReuse(steps: Step[]): Logistic {
  const rows = steps.flatMap(({ entry, rows }) =>
    rows.map(({ id, features }) => ({ features, label: Number(id === String(entry.template_id)) })),
  )
  return fitLogistic(
    rows.map(({ features }) => features),
    rows.map(({ label }) => label),
    l2,
  )
}

type Decision = ReturnType<typeof decisionOf>
type Decide = (step: Step) => { id: string; confidence: number } | undefined

function decisionOf(steps: Step[], decide: Decide, least: number) {
  let [right, wrong, falsely] = [0, 0, 0]
  const known = steps.filter(({ isKnown }) => isKnown).length
  for (const step of steps) {
    const best = decide(step)
    if (best === undefined || best.confidence < least) continue
    if (best.id === String(step.entry.template_id)) right++
    else wrong++
    if (!step.isKnown) falsely++
  }
  return {
    precision: (100 * right) / Math.max(1, right + wrong),
    recall: (100 * right) / known,
    f1: (200 * right) / (right + wrong + known),
    'false reuse': (100 * falsely) / Math.max(1, steps.length - known),
  }
}

/** The best by the share of common stems, which is the third feature. */
const nearestByWords: Decide = ({ rows }) => {
  const scored = rows.map(({ id, features }) => ({ id, confidence: features[2]! }))
  return scored.sort((a, b) => b.confidence - a.confidence)[0]
}

const byModel =
  (modelOf: (step: Step) => Logistic): Decide =>
  (step) => {
    const scored = step.rows.map(({ id, features }) => ({ id, confidence: predictLogistic(modelOf(step), features) }))
    return scored.sort((a, b) => b.confidence - a.confidence)[0]
  }

const clean = (text: string) =>
  text
    .replace(/^["'“” ]+|["'“” ]+$/g, '')
    .replace(/[.,?!;: ]+$/, '')
    .replace(/^["' ]+|["' ]+$/g, '')

/** Values that differ from those of the last intent of the template and stand in this one. */
function goldOf({ entry, members }: Step): Set<string> {
  const text = entry.read.words.join(' ')
  const last = members.at(-1)!.slots
  const changed = Object.entries(entry.slots).filter(([name, value]) => String(value) !== String(last[name]))
  const values = changed.map(([, value]) => wordsOf(String(value).trim()).join(' '))
  return new Set(values.filter((value) => value !== '' && text.includes(value)).map(clean))
}

function tokenDifference({ entry, members }: Step): string[] {
  const { words } = entry.read
  const same = new Set(alignWords(members.at(-1)!.read.words, words).map(([, at]) => at))
  const runs: string[][] = []
  for (const [at, word] of words.entries()) {
    if (same.has(at)) continue
    if (at > 0 && !same.has(at - 1) && runs.length > 0) runs.at(-1)!.push(word)
    else runs.push([word])
  }
  return runs.map((run) => run.join(' '))
}

function slotsOf(steps: Step[], fill: (step: Step) => string[]) {
  let [exact, count] = [0, 0]
  const byTemplate = new Map<number, { exact: number; count: number }>()
  for (const step of steps) {
    if (!step.isKnown) continue
    const gold = goldOf(step)
    if (gold.size === 0) continue
    const found = new Set(fill(step).map(clean).filter(Boolean))
    const isExact = found.symmetricDifference(gold).size === 0
    count++
    exact += Number(isExact)
    const own = byTemplate.get(step.entry.template_id) ?? { exact: 0, count: 0 }
    byTemplate.set(step.entry.template_id, { exact: own.exact + Number(isExact), count: own.count + 1 })
  }
  const shares = [...byTemplate.values()].map((own) => own.exact / own.count)
  const perFold = Array.from({ length: folds }, (_, fold) => foldShare(byTemplate, fold))
  return {
    'all slots exact': (100 * exact) / count,
    'mean of templates': (100 * shares.reduce((sum, share) => sum + share, 0)) / shares.length,
    'mean of folds': (100 * perFold.reduce((sum, share) => sum + share, 0)) / folds,
    'worst fold': 100 * Math.min(...perFold),
  }
}

function foldShare(byTemplate: Map<number, { exact: number; count: number }>, fold: number): number {
  const own = [...byTemplate].filter((_, at) => at % folds === fold).map(([, counts]) => counts)
  const sum = (of: (counts: { exact: number; count: number }) => number) =>
    own.reduce((total, counts) => total + of(counts), 0)
  return (
    sum(({ exact }) => exact) /
    Math.max(
      1,
      sum(({ count }) => count),
    )
  )
}

export function benchReuse(folder: string): Section[] {
  const entries = readEntries(folder)
  const steps = seeds.flatMap((seed) => streamOf(entries, seed))
  const templates = [...new Set(entries.map(({ template_id }) => template_id))]
  const foldOf = ({ entry }: Step) => templates.indexOf(entry.template_id) % folds
  const models = Array.from({ length: folds }, (_, fold) => {
    const others = entries.filter(({ template_id }) => templates.indexOf(template_id) % folds !== fold)
    return fitReuse(seeds.flatMap((seed) => streamOf(others, seed)))
  })
  const heldOut = decisionOf(
    steps,
    byModel((step) => models[foldOf(step)]!),
    confidenceMin,
  )
  const halves = [0, 1].map((half) => {
    const part = (rest: number) => entries.filter(({ template_id }) => templates.indexOf(template_id) % 2 === rest)
    const model = fitReuse(seeds.flatMap((seed) => streamOf(part(1 - half), seed)))
    return decisionOf(
      seeds.flatMap((seed) => streamOf(part(half), seed)),
      byModel(() => model),
      confidenceMin,
    )
  })
  const half = (of: (figures: Decision) => number) => (of(halves[0]!) + of(halves[1]!)) / 2
  const byHalves: Decision = {
    precision: half(({ precision }) => precision),
    recall: half(({ recall }) => recall),
    f1: half(({ f1 }) => f1),
    'false reuse': half((figures) => figures['false reuse']),
  }
  const shipped = decisionOf(steps, ({ entry, habits }) => recallIntent(entry.read, habits)[0], confidenceMin)
  const slots = slotsOf(steps, ({ entry, members }) =>
    fillSlots(
      entry.read,
      members.map(({ read }) => read),
    ),
  )
  return [
    {
      title: `reuse: recall (${entries.length} intents, ${seeds.length} orders)`,
      rows: [
        { name: 'nearest intent by words', figures: decisionOf(steps, nearestByWords, 0.3) },
        { name: 'ours, as shipped (saw this set)', figures: shipped },
        { name: `ours, ${folds} folds by template`, figures: heldOut },
        { name: 'ours, halves by template', figures: byHalves },
      ],
      bars: [
        { what: 'reuse F1, folds by template among all others', value: heldOut.f1, least: 97 },
        { what: 'false reuse %, folds by template among all others', value: heldOut['false reuse'], most: 3 },
        { what: 'reuse F1, halves by template', value: byHalves.f1, least: 97 },
        { what: 'false reuse %, halves by template', value: byHalves['false reuse'], most: 3 },
      ],
    },
    {
      title: 'reuse: values of the intent',
      rows: [
        { name: 'token difference', figures: slotsOf(steps, tokenDifference) },
        { name: 'ours (rules saw this set)', figures: slots },
      ],
      bars: [
        { what: 'all slots exact %', value: slots['all slots exact'], least: 76 },
        { what: 'all slots exact %, mean of folds by template', value: slots['mean of folds'], least: 70 },
      ],
    },
  ]
}

export function fitAllReuse(folder: string): Logistic {
  const entries = readEntries(folder)
  return fitReuse(seeds.flatMap((seed) => streamOf(entries, seed)))
}
