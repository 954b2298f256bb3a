/**
 * Many yes-or-no questions about a text at once, one linear model each over the same terms: which
 * tools an intent needs. Fitted by AdaGrad in a fixed order, so that the same past gives the same
 * model.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** `weights` by term, then by label. */
type Weights = { terms: readonly string[]; rarity: readonly number[]; bias: Float32Array; weights: Float32Array }

export type LinearModel = Weights & {
  logits(terms: readonly string[]): Float32Array
  /** What one term says for one label. */
  weightOf(term: string, label: number): number
}

type LinearOptions = { epochs: number; countMin: number; weightsMax: number }
type Sparse = { terms: Int32Array; values: Float32Array }

const [rate, biasRate, l2] = [0.5, 0.1, 1e-5]
/** Errors below it are settled: most labels are soon, and cost nothing more. */
const errorMin = 0.002
const settledLogit = Math.log(errorMin / (1 - errorMin))

export function fitLinear(
  documents: readonly (readonly string[])[],
  labels: readonly (readonly number[])[],
  labelCount: number,
  { epochs, countMin, weightsMax }: LinearOptions,
): LinearModel {
  const { terms, rarity } = vocabularyOf(documents, countMin, Math.floor(weightsMax / Math.max(1, labelCount)))
  const weights = new Float32Array(terms.length * labelCount)
  const bias = new Float32Array(labelCount).fill(-3)
  const model = openLinear({ terms, rarity, bias, weights })
  const squares = new Float32Array(weights.length).fill(1e-3)
  const biasSquares = new Float32Array(labelCount).fill(1)
  const rows = documents.map(model.read)
  const wanted = new Uint8Array(labelCount)
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const [index, row] of rows.entries()) {
      const logits = model.logitsOf(row)
      for (const label of labels[index]!) wanted[label] = 1
      for (let label = 0; label < labelCount; label++) {
        if (wanted[label] === 0 && logits[label]! < settledLogit) continue
        const error = wanted[label]! - 1 / (1 + Math.exp(-logits[label]!))
        wanted[label] = 0
        if (Math.abs(error) <= errorMin) continue
        biasSquares[label]! += error * error
        bias[label]! += (biasRate * error) / Math.sqrt(biasSquares[label]!)
        for (let at = 0; at < row.terms.length; at++) {
          const place = row.terms[at]! * labelCount + label
          const slope = error * row.values[at]! - l2 * weights[place]!
          squares[place]! += slope * slope
          weights[place]! += (rate * slope) / Math.sqrt(squares[place]!)
        }
      }
    }
  }
  return model
}

/** The terms that most texts have, where there are too many. */
function vocabularyOf(documents: readonly (readonly string[])[], countMin: number, termsMax: number) {
  const counts = new Map<string, number>()
  for (const terms of documents) for (const term of new Set(terms)) counts.set(term, (counts.get(term) ?? 0) + 1)
  const known = [...counts].filter(([, count]) => count >= countMin)
  known.sort(([left, a], [right, b]) => b - a || (left < right ? -1 : 1))
  const kept = known.slice(0, termsMax)
  return {
    terms: kept.map(([term]) => term),
    rarity: kept.map(([, count]) => Math.log(1 + documents.length / count)),
  }
}

function openLinear(model: Weights) {
  const { terms, rarity, bias, weights } = model
  const labelCount = bias.length
  const places = new Map(terms.map((term, at) => [term, at]))
  /** Terms by number with tf-idf values of length one. */
  const read = (text: readonly string[]): Sparse => {
    const counts = new Map<number, number>()
    for (const term of text) {
      const place = places.get(term)
      if (place !== undefined) counts.set(place, (counts.get(place) ?? 0) + 1)
    }
    const values = Float32Array.from(counts, ([place, count]) => (1 + Math.log(count)) * rarity[place]!)
    const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0)) || 1
    return { terms: Int32Array.from(counts.keys()), values: values.map((value) => value / length) }
  }
  const logitsOf = (row: Sparse) => {
    const logits = Float32Array.from(bias)
    for (let at = 0; at < row.terms.length; at++) {
      const [start, value] = [row.terms[at]! * labelCount, row.values[at]!]
      for (let label = 0; label < labelCount; label++) logits[label]! += weights[start + label]! * value
    }
    return logits
  }
  return {
    ...model,
    read,
    logitsOf,
    logits: (text: readonly string[]) => logitsOf(read(text)),
    weightOf(term: string, label: number) {
      const place = places.get(term)
      return place === undefined ? 0 : weights[place * labelCount + label]! * rarity[place]!
    },
  }
}

/** A weight in one byte, as a part of the largest of its term: most are about nothing. */
type PackedLinear = {
  terms: readonly string[]
  rarity: readonly number[]
  bias: number[]
  sizes: number[]
  weights: string
}

const [most, round4] = [127, (value: number) => Math.round(value * 1e4) / 1e4]

export function packLinear({ terms, rarity, bias, weights }: LinearModel): PackedLinear {
  const width = bias.length
  const rows = terms.map((_, term) => weights.subarray(term * width, (term + 1) * width))
  const sizes = rows.map((row) => round4(row.reduce((top, weight) => Math.max(top, Math.abs(weight)), 0) || 1))
  const bytes = Int8Array.from(weights, (weight, at) => Math.round((most * weight) / sizes[Math.floor(at / width)]!))
  const packed = deflateRawSync(new Uint8Array(bytes.buffer)).toString('base64')
  return { terms, rarity: rarity.map(round4), bias: Array.from(bias, round4), sizes, weights: packed }
}

export function unpackLinear({ sizes, weights, bias, ...rest }: PackedLinear): LinearModel {
  const inflated = inflateRawSync(Buffer.from(weights, 'base64'))
  const bytes = new Int8Array(inflated.buffer, inflated.byteOffset, inflated.length)
  const width = bias.length
  const read = Float32Array.from(bytes, (byte, at) => (byte * sizes[Math.floor(at / width)]!) / most)
  return openLinear({ ...rest, bias: Float32Array.from(bias), weights: read })
}
