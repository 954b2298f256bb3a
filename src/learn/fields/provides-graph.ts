/**
 * What could feed what among known tools, whatever plan they stand in: an input may have several
 * sources, and two tools may feed each other.
 */
import { predictBlend } from '#learn/models'
import type { Specificity } from '#learn/text'
import { fieldPairsOf } from './field-pairs.ts'
import { providesModel } from './provides-model.ts'
import type { ToolShape } from './tool-shape.ts'

/** For each input of the consumer the output that fits best. */
type FittingField = { output: string; input: string; share: number }

export function fittingFields(producer: ToolShape, consumer: ToolShape, specificity: Specificity): FittingField[] {
  const pairs = fieldPairsOf([producer, consumer], '', specificity).filter(({ from }) => from === 0)
  const scored = pairs.map(({ output, input, features }) => ({
    output,
    input,
    share: predictBlend(providesModel, features),
  }))
  const best = Map.groupBy(scored, ({ input }) => input)
  return [...best.values()].map((rivals) => rivals.reduce((left, right) => (right.share > left.share ? right : left)))
}
