/**
 * Many yes-or-no questions about a text at once, one linear model each over the same terms: which
 * tools an intent needs. Fitted by AdaGrad in a fixed order, so that the same past gives the same
 * model.
 */

export type LinearModel = {
  logits(terms: readonly string[]): Float64Array
  /** What one term says for one label. */
  weightOf(term: string, label: number): number
}

type LinearOptions = { epochs?: number; rate?: number; l2?: number; countMin?: number }

type Sparse = { terms: Int32Array; values: Float64Array }

export function fitLinear(
  documents: readonly (readonly string[])[],
  labels: readonly (readonly number[])[],
  labelCount: number,
  { epochs = 20, rate = 0.5, l2 = 1e-5, countMin = 1 }: LinearOptions = {},
): LinearModel {
  const counts = new Map<string, number>()
  for (const terms of documents) for (const term of new Set(terms)) counts.set(term, (counts.get(term) ?? 0) + 1)
  const vocabulary = new Map<string, number>()
  const rarity: number[] = []
  for (const [term, count] of counts) {
    if (count < countMin) continue
    vocabulary.set(term, vocabulary.size)
    rarity.push(Math.log(1 + documents.length / count))
  }
  const weights = new Float64Array(vocabulary.size * labelCount)
  const squares = new Float64Array(weights.length).fill(1e-3)
  const bias = new Float64Array(labelCount).fill(-3)
  const biasSquares = new Float64Array(labelCount).fill(1)
  const rows = documents.map((terms) => sparseOf(terms, vocabulary, rarity))
  const logitsOf = ({ terms, values }: Sparse) => {
    const scores = Float64Array.from(bias)
    for (let at = 0; at < terms.length; at++) {
      const start = terms[at]! * labelCount
      for (let label = 0; label < labelCount; label++) scores[label]! += weights[start + label]! * values[at]!
    }
    return scores
  }
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const [index, row] of rows.entries()) {
      const errors = logitsOf(row)
      for (let label = 0; label < labelCount; label++) errors[label] = -1 / (1 + Math.exp(-errors[label]!))
      for (const label of labels[index]!) errors[label]! += 1
      for (let label = 0; label < labelCount; label++) {
        const error = errors[label]!
        // Most labels are settled soon, and cost nothing more.
        if (Math.abs(error) <= 0.002) continue
        biasSquares[label]! += error * error
        bias[label]! += (0.1 * error) / Math.sqrt(biasSquares[label]!)
        for (let at = 0; at < row.terms.length; at++) {
          const place = row.terms[at]! * labelCount + label
          const slope = error * row.values[at]! - l2 * weights[place]!
          squares[place]! += slope * slope
          weights[place]! += (rate * slope) / Math.sqrt(squares[place]!)
        }
      }
    }
  }
  return {
    logits: (terms) => logitsOf(sparseOf(terms, vocabulary, rarity)),
    weightOf(term, label) {
      const place = vocabulary.get(term)
      return place === undefined ? 0 : weights[place * labelCount + label]! * rarity[place]!
    },
  }
}

/** Terms by number with tf-idf values of length one. */
function sparseOf(terms: readonly string[], vocabulary: Map<string, number>, rarity: number[]): Sparse {
  const counts = new Map<number, number>()
  for (const term of terms) {
    const place = vocabulary.get(term)
    if (place !== undefined) counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  const values = Float64Array.from(counts, ([place, count]) => (1 + Math.log(count)) * rarity[place]!)
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0)) || 1
  return { terms: Int32Array.from(counts.keys()), values: values.map((value) => value / length) }
}
