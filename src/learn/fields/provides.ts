/**
 * Which tool can feed which other one, read from what they take and give, with the fields that
 * correspond and how much of the consumer's needs they cover.
 */
import { type Blend, predictBlend } from '#learn/models'
import { type Specificity, specificityOf, stemsOf } from '#learn/text'
import { type FieldPair, fieldPairsOf } from './field-pairs.ts'
import { providesModel } from './provides-model.ts'
import type { ToolShape } from './tool-shape.ts'

/**
 * Of the consumer's required inputs all, some, or none but optional ones; where it requires
 * nothing, optional.
 */
type Coverage = 'strict' | 'partial' | 'optional'

type ProvidesEdge = {
  from: string
  to: string
  coverage: Coverage
  fields: { from: string; to: string; confidence: number }[]
  confidence: number
}

type ProvidesOptions = { intent?: string; specificity?: Specificity; confidenceMin?: number; model?: Blend }

/**
 * The edges among these tools, as they would stand in one plan: every input has at most one source,
 * and nothing feeds itself, not even through others.
 */
export function providesOf(shapes: readonly ToolShape[], options: ProvidesOptions = {}): ProvidesEdge[] {
  const { intent = '', specificity = fieldSpecificity(shapes), confidenceMin = 0.4, model = providesModel } = options
  const pairs = fieldPairsOf(shapes, intent, specificity)
  const chosen = chooseAcyclic(pairs, (pair) => predictBlend(model, pair.features), confidenceMin)
  return [...Map.groupBy(chosen, ({ pair }) => `${pair.from} ${pair.to}`).values()].map((group) => {
    const { from, to } = group[0]!.pair
    const fields = group.map(({ pair, share }) => ({ from: pair.output, to: pair.input, confidence: share }))
    const confidence = Math.max(...fields.map((field) => field.confidence))
    return { from: shapes[from]!.id, to: shapes[to]!.id, coverage: coverageOf(shapes[to]!, fields), fields, confidence }
  })
}

/** How specific the words of fields are among these tools. */
export function fieldSpecificity(shapes: readonly ToolShape[]): Specificity {
  const fields = shapes.flatMap(({ inputs, outputs }) => [...inputs, ...outputs])
  return specificityOf(fields.map(({ name, description }) => stemsOf(`${name} ${description}`)))
}

export function coverageOf({ inputs }: ToolShape, fields: readonly { to: string }[]): Coverage {
  const required = inputs.filter((field) => field.required)
  const covered = required.filter(({ name }) => fields.some(({ to }) => to === name))
  if (covered.length === 0) return 'optional'
  return covered.length === required.length ? 'strict' : 'partial'
}

/** The surest first; what would close a circle or feed an input twice is passed over. */
function chooseAcyclic(pairs: FieldPair[], score: (pair: FieldPair) => number, least: number) {
  const scored = pairs.map((pair) => ({ pair, share: score(pair) })).filter(({ share }) => share >= least)
  scored.sort((a, b) => b.share - a.share)
  const fed = new Set<string>()
  const reaches = new Map<number, Set<number>>()
  const reached = (from: number) => reaches.get(from) ?? new Set([from])
  return scored.filter(({ pair: { from, to, input } }) => {
    if (fed.has(`${to} ${input}`) || reached(to).has(from)) return false
    fed.add(`${to} ${input}`)
    for (const before of new Set([from, ...reaches.keys()])) {
      if (before === from || reached(before).has(from))
        reaches.set(before, reached(before).union(reached(to)).add(before))
    }
    return true
  })
}
