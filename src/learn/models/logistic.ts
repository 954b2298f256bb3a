/**
 * A logistic model over a few features, fitted by Newton's method: where examples are few, it
 * carries over to new cases better than trees.
 */

/** The mean and scale of each feature, its weight once scaled, and the bias. */
export type Logistic = { means: number[]; scales: number[]; weights: number[]; bias: number }

export function predictLogistic({ means, scales, weights, bias }: Logistic, row: readonly number[]): number {
  let score = bias
  for (let at = 0; at < weights.length; at++) score += (weights[at]! * (row[at]! - means[at]!)) / scales[at]!
  return 1 / (1 + Math.exp(-Math.max(-30, Math.min(30, score))))
}

/** Keeps the bias finite where all labels are equal. */
const biasL2 = 0.01

/** A feature that hardly varies says nothing, and must not be blown up. */
const scaleOf = (deviation: number) => (deviation < 1e-3 ? 1 : deviation)

export function fitLogistic(rows: readonly number[][], labels: readonly number[], l2: number, rounds = 20): Logistic {
  const width = rows[0]?.length ?? 0
  const mean = (of: (row: readonly number[]) => number) =>
    rows.reduce((sum, row) => sum + of(row), 0) / Math.max(1, rows.length)
  const means = Array.from({ length: width }, (_, at) => mean((row) => row[at]!))
  const scales = means.map((middle, at) => scaleOf(Math.sqrt(mean((row) => (row[at]! - middle) ** 2))))
  const scaled = rows.map((row) => [...row.map((value, at) => (value - means[at]!) / scales[at]!), 1])
  const weights = new Array<number>(width + 1).fill(0)
  for (let round = 0; round < rounds; round++) {
    const slope = weights.map((weight, at) => -(at === width ? biasL2 : l2) * weight)
    const curve = weights.map((_, at) => weights.map((_, to) => (at !== to ? 0 : at < width ? l2 : biasL2)))
    for (const [index, row] of scaled.entries()) {
      const share =
        1 /
        (1 +
          Math.exp(
            -Math.max(
              -30,
              Math.min(
                30,
                row.reduce((sum, value, at) => sum + value * weights[at]!, 0),
              ),
            ),
          ))
      const weight = share * (1 - share)
      for (let at = 0; at <= width; at++) {
        slope[at]! += (labels[index]! - share) * row[at]!
        const line = curve[at]!
        const factor = weight * row[at]!
        for (let to = 0; to <= at; to++) line[to]! += factor * row[to]!
      }
    }
    const step = solve(curve, slope)
    for (const [at, value] of step.entries()) weights[at]! += value
  }
  const round4 = (value: number) => Math.round(value * 1e4) / 1e4
  return {
    means: means.map(round4),
    scales: scales.map(round4),
    weights: weights.slice(0, width).map(round4),
    bias: round4(weights[width]!),
  }
}

/** Solves by Cholesky; only the lower half of the matrix is read, and it is overwritten. */
function solve(matrix: number[][], right: number[]): number[] {
  const size = right.length
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let sum = matrix[row]![column]!
      for (let at = 0; at < column; at++) sum -= matrix[row]![at]! * matrix[column]![at]!
      matrix[row]![column] = row === column ? Math.sqrt(Math.max(1e-12, sum)) : sum / matrix[column]![column]!
    }
  }
  const half = [...right]
  for (let row = 0; row < size; row++) {
    for (let at = 0; at < row; at++) half[row]! -= matrix[row]![at]! * half[at]!
    half[row]! /= matrix[row]![row]!
  }
  for (let row = size - 1; row >= 0; row--) {
    for (let at = row + 1; at < size; at++) half[row]! -= matrix[at]![row]! * half[at]!
    half[row]! /= matrix[row]![row]!
  }
  return half
}
