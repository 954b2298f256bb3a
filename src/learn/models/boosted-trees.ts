/**
 * Gradient-boosted decision trees for yes-or-no questions: small, deterministic, in plain numbers,
 * so that a fitted model can be kept as data.
 */

import { diceOf } from './dice.ts'

/**
 * Trees of one depth, each complete: in `splits` a feature and a threshold for every inner node
 * from the root down, in `values` a score for every leaf. `base` is the score before all trees.
 */
export type Trees = { depth: number; base: number; splits: number[][]; values: number[][] }

/** `columnShare`: what part of the features each tree may look at. */
export type TreeOptions = {
  trees: number
  depth: number
  rate: number
  leafWeightMin: number
  l2: number
  columnShare?: number
}

const binsMax = 48

/** The probability of yes. */
export function predictTrees({ depth, base, splits, values }: Trees, row: readonly number[]): number {
  let score = base
  for (let tree = 0; tree < splits.length; tree++) {
    const nodes = splits[tree]!
    let node = 0
    for (let level = 0; level < depth; level++) {
      node = 2 * node + (row[nodes[2 * node]!]! > nodes[2 * node + 1]! ? 2 : 1)
    }
    score += values[tree]![node - (2 ** depth - 1)]!
  }
  return 1 / (1 + Math.exp(-score))
}

/**
 * Newton boosting over quantile bins. Which features a tree looks at is drawn from its number: the
 * same rows give the same model.
 */
export function fitTrees(rows: readonly number[][], labels: readonly number[], options: TreeOptions): Trees {
  const featureCount = rows[0]?.length ?? 0
  const thresholds = Array.from({ length: featureCount }, (_, feature) => thresholdsOf(rows, feature))
  const binned = thresholds.map((cuts, feature) => Uint8Array.from(rows, (row) => binOf(cuts, row[feature]!)))
  const rate = labels.reduce((sum, label) => sum + label, 0) / Math.max(1, labels.length)
  const base = Math.log((rate + 1e-6) / (1 - rate + 1e-6))
  const scores = new Float64Array(rows.length).fill(base)
  const model: Trees = { depth: options.depth, base: round(base), splits: [], values: [] }
  const gradient = new Float64Array(rows.length)
  const curvature = new Float64Array(rows.length)
  for (let tree = 0; tree < options.trees; tree++) {
    for (let at = 0; at < rows.length; at++) {
      const share = 1 / (1 + Math.exp(-scores[at]!))
      gradient[at] = labels[at]! - share
      curvature[at] = Math.max(1e-6, share * (1 - share))
    }
    const columns = columnsOf(tree, featureCount, options.columnShare ?? 1)
    const grown = growTree(binned, thresholds, columns, gradient, curvature, options)
    model.splits.push(grown.splits)
    model.values.push(grown.values)
    for (let at = 0; at < rows.length; at++) scores[at]! += grown.values[grown.leaf[at]!]!
  }
  return model
}

function columnsOf(tree: number, count: number, share: number): number[] {
  const dice = diceOf(tree)
  const columns = [...Array(count).keys()].filter(() => share === 1 || dice() < share)
  return columns.length === 0 && count > 0 ? [tree % count] : columns
}

const round = (value: number) => Math.round(value * 1e4) / 1e4

/** Values between which the rows are split into parts of about the same size. */
function thresholdsOf(rows: readonly number[][], feature: number): number[] {
  const values = rows.map((row) => row[feature]!).sort((a, b) => a - b)
  const cuts = new Set<number>()
  for (let part = 1; part < binsMax; part++) {
    const value = values[Math.floor((part * values.length) / binsMax)]!
    if (value < values.at(-1)!) cuts.add(value)
  }
  // Rare values at the lower end deserve a cut of their own.
  if (values.length > 0 && values[0]! < values.at(-1)!) cuts.add(values[0]!)
  return [...cuts].sort((a, b) => a - b)
}

function binOf(cuts: number[], value: number): number {
  let [low, high] = [0, cuts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (value > cuts[middle]!) low = middle + 1
    else high = middle
  }
  return low
}

function growTree(
  binned: Uint8Array[],
  thresholds: number[][],
  columns: number[],
  gradient: Float64Array,
  curvature: Float64Array,
  { depth, rate, leafWeightMin, l2 }: TreeOptions,
) {
  const inner = 2 ** depth - 1
  const node = new Int32Array(gradient.length)
  const splits: number[] = []
  for (let level = 0; level < depth; level++) {
    const first = 2 ** level - 1
    const best = bestSplits(binned, thresholds, columns, gradient, curvature, node, {
      first,
      count: first + 1,
      leafWeightMin,
      l2,
    })
    for (const { feature, cut } of best) splits.push(feature, cut < 0 ? 1e9 : round(thresholds[feature]![cut]!))
    for (let at = 0; at < node.length; at++) {
      const { feature, cut } = best[node[at]! - first]!
      node[at] = 2 * node[at]! + (cut >= 0 && binned[feature]![at]! > cut ? 2 : 1)
    }
  }
  const sums = new Float64Array(2 * (inner + 1))
  for (let at = 0; at < node.length; at++) {
    sums[2 * (node[at]! - inner)]! += gradient[at]!
    sums[2 * (node[at]! - inner) + 1]! += curvature[at]!
  }
  const values = Array.from({ length: inner + 1 }, (_, leaf) =>
    round((rate * sums[2 * leaf]!) / (sums[2 * leaf + 1]! + l2)),
  )
  return { splits, values, leaf: node.map((at) => at - inner) }
}

type Level = { first: number; count: number; leafWeightMin: number; l2: number }

/** For each node of a level the split that gains most; a cut below zero is none. */
function bestSplits(
  binned: Uint8Array[],
  thresholds: number[][],
  columns: number[],
  gradient: Float64Array,
  curvature: Float64Array,
  node: Int32Array,
  { first, count, leafWeightMin, l2 }: Level,
): { feature: number; cut: number; gain: number }[] {
  const best = Array.from({ length: count }, () => ({ feature: 0, cut: -1, gain: 1e-6 }))
  const width = binsMax + 2
  const slopes = new Float64Array(count * width)
  const weights = new Float64Array(count * width)
  for (const feature of columns) {
    const cuts = thresholds[feature]!
    slopes.fill(0)
    weights.fill(0)
    const bins = binned[feature]!
    for (let at = 0; at < node.length; at++) {
      const place = (node[at]! - first) * width + bins[at]!
      slopes[place]! += gradient[at]!
      weights[place]! += curvature[at]!
    }
    for (let index = 0; index < count; index++) {
      let [slope, weight] = [0, 0]
      for (let bin = 0; bin <= cuts.length; bin++) {
        slope += slopes[index * width + bin]!
        weight += weights[index * width + bin]!
      }
      let [left, leftWeight] = [0, 0]
      for (let cut = 0; cut < cuts.length; cut++) {
        left += slopes[index * width + cut]!
        leftWeight += weights[index * width + cut]!
        const [right, rightWeight] = [slope - left, weight - leftWeight]
        if (leftWeight < leafWeightMin || rightWeight < leafWeightMin) continue
        const gain = left ** 2 / (leftWeight + l2) + right ** 2 / (rightWeight + l2) - slope ** 2 / (weight + l2)
        if (gain > best[index]!.gain) best[index] = { feature, cut, gain }
      }
    }
  }
  return best
}
