/**
 * Boosted trees see what belongs together, a logistic model carries further with few examples: the
 * mean of their log-odds. Without trees it is the logistic model.
 */
import { fitTrees, predictTrees, type TreeOptions, type Trees } from './boosted-trees.ts'
import { fitLogistic, type Logistic, predictLogistic } from './logistic.ts'

export type Blend = { trees: Trees | null; linear: Logistic }
type BlendOptions = { trees: TreeOptions | null; l2: number }
type Rows = readonly number[][]

/** What the logistic model reads of a row. */
type Read = (row: readonly number[]) => number[]
const asIs: Read = (row) => [...row]

/** `labels` between 0 and 1 are probabilities. */
export function fitBlend(rows: Rows, labels: readonly number[], { trees, l2 }: BlendOptions, read = asIs): Blend {
  return {
    trees: trees === null ? null : fitTrees(rows, labels, trees),
    linear: fitLogistic(rows.map(read), labels, l2),
  }
}

const logit = (share: number) => Math.log((share + 1e-6) / (1 - share + 1e-6))

export function predictBlend({ trees, linear }: Blend, row: readonly number[], read = asIs): number {
  const share = predictLogistic(linear, read(row))
  if (trees === null) return share
  return 1 / (1 + Math.exp(-(logit(predictTrees(trees, row)) + logit(share)) / 2))
}
