/**
 * The network of attention, forward and back: two levels of messages between tools and sets, in
 * each head apart, and the slope of the loss by every weight.
 */
const heads = 4
const width = 8
const dimensions = 32
const size = heads * width
const leak = 0.2

/** What it needs to score: the rest of training is folded into the vectors of the tools. */
export type AttentionModel = {
  terms: readonly string[]
  /** How much each term says. */
  rarity: Float64Array
  /** By term, then of the tools: `dimensions` and `heads × width` numbers each. */
  embedding: Float64Array
  query: Float64Array
  vectors: Float64Array
  bias: Float64Array
}

/** The probability of each tool to be the next that is used for the intent. */
export function attend({
  terms,
  rarity,
  embedding,
  query,
  vectors,
  bias,
}: AttentionModel): (asked: readonly string[]) => Float64Array {
  const numbers = new Map(terms.map((term, at) => [term, at]))
  return (asked) => {
    const bag = asked.flatMap((term) => numbers.get(term) ?? [])
    if (bag.length === 0) return new Float64Array(bias.length)
    const vector = times(textOf(embedding, rarity, bag), query)
    return softmax(bias.map((shift, tool) => shift + dot(vector, vectors, 0, tool * size, size)))
  }
}

export type Weights = Record<
  'embedding' | 'own' | 'query' | 'free' | 'bias' | 'fromTool' | 'toSet' | 'fromSet' | 'toTool',
  Float64Array
>

export type Network = {
  weights: Weights
  squares: Weights
  rarity: Float64Array
  bags: readonly (readonly number[])[]
  sets: readonly (readonly number[])[]
  /** By tool, the sets it stands in. */
  places: number[][]
}

export function newNetwork(
  rarity: Float64Array,
  { tools, sets }: { tools: readonly unknown[]; sets: readonly (readonly number[])[] },
  bags: readonly (readonly number[])[],
  dice: () => number,
): Network {
  const random = (length: number, scale: number) => Float64Array.from({ length }, () => scale * (2 * dice() - 1))
  const weights: Weights = {
    embedding: random(rarity.length * dimensions, 0.3),
    own: random(dimensions * size, 0.3),
    query: random(dimensions * size, 0.3),
    free: random(tools.length * size, 0.05),
    bias: new Float64Array(tools.length),
    fromTool: random(size, 0.1),
    toSet: random(size, 0.1),
    fromSet: random(size, 0.1),
    toTool: random(size, 0.1),
  }
  const places: number[][] = tools.map(() => [])
  for (const [set, members] of sets.entries()) for (const tool of members) places[tool]!.push(set)
  return { weights, squares: emptyAs(weights, 1e-2), rarity, bags, sets, places }
}

const emptyAs = (weights: Weights, value = 0): Weights =>
  Object.fromEntries(
    Object.entries(weights).map(([name, { length }]) => [name, new Float64Array(length).fill(value)]),
  ) as Weights

/** One head of one node: how far each of its neighbours is attended to. */
type Attention = { shares: Float64Array; sums: Float64Array }

type Passed = {
  words: Float64Array[]
  own: Float64Array
  means: Float64Array
  ofSet: Attention[]
  raw: Float64Array
  setVectors: Float64Array
  ofTool: Attention[]
  vectors: Float64Array
}

export function forward({ weights, rarity, bags, sets, places }: Network): Passed {
  const words = bags.map((bag) => textOf(weights.embedding, rarity, bag))
  const own = Float64Array.from(weights.free)
  for (const [tool, text] of words.entries()) addAt(own, tool * size, times(text, weights.own))
  const means = new Float64Array(sets.length * size)
  for (const [set, members] of sets.entries())
    for (const tool of members) addScaled(means, set * size, own, tool * size, size, 1 / members.length)
  const raw = new Float64Array(sets.length * size)
  const ofSet = eachHead(sets.length, (set, offset) => {
    const attention = attentionOver(sets[set]!, own, weights.fromTool, means, set, weights.toSet, offset)
    for (const [at, tool] of sets[set]!.entries())
      addScaled(raw, set * size + offset, own, tool * size + offset, width, attention.shares[at]!)
    return attention
  })
  const setVectors = raw.map((value) => (value > 0 ? value : Math.expm1(value)))
  const vectors = Float64Array.from(own)
  const ofTool = eachHead(places.length, (tool, offset) => {
    const attention = attentionOver(places[tool]!, setVectors, weights.fromSet, own, tool, weights.toTool, offset)
    for (const [at, set] of places[tool]!.entries())
      addScaled(vectors, tool * size + offset, setVectors, set * size + offset, width, attention.shares[at]!)
    return attention
  })
  return { words, own, means, ofSet, raw, setVectors, ofTool, vectors }
}

function eachHead<Value>(count: number, make: (node: number, offset: number) => Value): Value[] {
  return Array.from({ length: count * heads }, (_, at) => make(Math.floor(at / heads), (at % heads) * width))
}

/** The softmax over the neighbours of what they and the node itself say. */
function attentionOver(
  neighbours: readonly number[],
  theirs: Float64Array,
  from: Float64Array,
  mine: Float64Array,
  node: number,
  to: Float64Array,
  offset: number,
): Attention {
  const self = dot(to, mine, offset, node * size + offset, width)
  const sums = Float64Array.from(neighbours, (one) => self + dot(from, theirs, offset, one * size + offset, width))
  return { shares: softmax(sums.map((sum) => (sum > 0 ? sum : leak * sum))), sums }
}

type Batch = readonly { bag: readonly number[]; tools: readonly number[]; others: readonly number[] }[]

/** The loss of a batch and its slope by every weight. */
export function gradientsOf(network: Network, batch: Batch): { loss: number; gradients: Weights } {
  const { weights } = network
  const passed = forward(network)
  const gradients = emptyAs(weights)
  const toVectors = new Float64Array(passed.vectors.length)
  let loss = 0
  for (const { bag, tools, others } of batch) {
    if (bag.length === 0) continue
    const text = textOf(weights.embedding, network.rarity, bag)
    const vector = times(text, weights.query)
    const candidates = [...tools, ...others]
    const logits = candidates.map((tool) => weights.bias[tool]! + dot(vector, passed.vectors, 0, tool * size, size))
    const shares = softmax(Float64Array.from(logits))
    const toVector = new Float64Array(size)
    for (const [at, tool] of candidates.entries()) {
      const truth = at < tools.length ? 1 / tools.length : 0
      if (truth > 0) loss -= (truth * Math.log(shares[at]! + 1e-12)) / batch.length
      const slope = (shares[at]! - truth) / batch.length
      gradients.bias[tool]! += slope
      addScaled(toVectors, tool * size, vector, 0, size, slope)
      addScaled(toVector, 0, passed.vectors, tool * size, size, slope)
    }
    backThroughText(network, gradients, 'query', bag, text, toVector)
  }
  backward(network, passed, toVectors, gradients)
  return { loss, gradients }
}

/** From the slope by the vectors of the tools back to the weights. */
function backward(network: Network, passed: Passed, toVectors: Float64Array, gradients: Weights): void {
  const { weights, sets, places, bags } = network
  const { own, means, raw, setVectors } = passed
  const toOwn = Float64Array.from(toVectors)
  const toSets = new Float64Array(setVectors.length)
  for (const [at, attention] of passed.ofTool.entries()) {
    const [tool, offset] = [Math.floor(at / heads), (at % heads) * width]
    const link = { neighbours: places[tool]!, node: tool, offset, attention }
    const theirs = { values: setVectors, slopes: toSets, by: weights.fromSet, slopeBy: gradients.fromSet }
    const mine = { values: own, slopes: toOwn, by: weights.toTool, slopeBy: gradients.toTool }
    backThroughAttention(link, theirs, mine, toVectors)
  }
  const toRaw = toSets.map((slope, at) => (raw[at]! > 0 ? slope : slope * (setVectors[at]! + 1)))
  const toMeans = new Float64Array(means.length)
  for (const [at, attention] of passed.ofSet.entries()) {
    const [set, offset] = [Math.floor(at / heads), (at % heads) * width]
    const link = { neighbours: sets[set]!, node: set, offset, attention }
    const theirs = { values: own, slopes: toOwn, by: weights.fromTool, slopeBy: gradients.fromTool }
    const mine = { values: means, slopes: toMeans, by: weights.toSet, slopeBy: gradients.toSet }
    backThroughAttention(link, theirs, mine, toRaw)
  }
  for (const [set, members] of sets.entries())
    for (const tool of members) addScaled(toOwn, tool * size, toMeans, set * size, size, 1 / members.length)
  addScaled(gradients.free, 0, toOwn, 0, toOwn.length, 1)
  for (const [tool, bag] of bags.entries())
    backThroughText(network, gradients, 'own', bag, passed.words[tool]!, toOwn.subarray(tool * size, (tool + 1) * size))
}

type Side = { values: Float64Array; slopes: Float64Array; by: Float64Array; slopeBy: Float64Array }
type Link = { neighbours: readonly number[]; node: number; offset: number; attention: Attention }

/** `toSum` is the slope by what the node got: the sum of its neighbours, by their shares. */
function backThroughAttention(link: Link, theirs: Side, mine: Side, toSum: Float64Array): void {
  const { neighbours, node, offset, attention } = link
  const place = node * size + offset
  const toShares = neighbours.map((one) => dot(toSum, theirs.values, place, one * size + offset, width))
  const mean = toShares.reduce((sum, slope, at) => sum + slope * attention.shares[at]!, 0)
  for (const [at, one] of neighbours.entries()) {
    const share = attention.shares[at]!
    const slope = share * (toShares[at]! - mean) * (attention.sums[at]! > 0 ? 1 : leak)
    const other = one * size + offset
    addScaled(theirs.slopes, other, toSum, place, width, share)
    addScaled(theirs.slopes, other, theirs.by, offset, width, slope)
    addScaled(theirs.slopeBy, offset, theirs.values, other, width, slope)
    addScaled(mine.slopes, place, mine.by, offset, width, slope)
    addScaled(mine.slopeBy, offset, mine.values, place, width, slope)
  }
}

function backThroughText(
  { weights, rarity }: Network,
  gradients: Weights,
  by: 'own' | 'query',
  bag: readonly number[],
  text: Float64Array,
  slopes: Float64Array,
): void {
  if (bag.length === 0) return
  const length = lengthOf(rarity, bag)
  for (let row = 0; row < dimensions; row++) {
    addScaled(gradients[by], row * size, slopes, 0, size, text[row]!)
    const slope = dot(weights[by], slopes, row * size, 0, size) / length
    for (const term of bag) gradients.embedding[term * dimensions + row]! += slope * rarity[term]!
  }
}

/** The terms of a text together, the rare ones more. */
function textOf(embedding: Float64Array, rarity: Float64Array, bag: readonly number[]): Float64Array {
  const text = new Float64Array(dimensions)
  const length = lengthOf(rarity, bag)
  for (const term of bag) addScaled(text, 0, embedding, term * dimensions, dimensions, rarity[term]! / length)
  return text
}

const lengthOf = (rarity: Float64Array, bag: readonly number[]) =>
  Math.sqrt(bag.reduce((sum, term) => sum + rarity[term]! ** 2, 0)) || 1

function times(text: Float64Array, matrix: Float64Array): Float64Array {
  const product = new Float64Array(size)
  for (let row = 0; row < dimensions; row++) addScaled(product, 0, matrix, row * size, size, text[row]!)
  return product
}

function dot(left: Float64Array, right: Float64Array, from: number, to: number, length: number): number {
  let sum = 0
  for (let at = 0; at < length; at++) sum += left[from + at]! * right[to + at]!
  return sum
}

function addScaled(
  target: Float64Array,
  to: number,
  source: Float64Array,
  from: number,
  length: number,
  scale: number,
): void {
  for (let at = 0; at < length; at++) target[to + at]! += scale * source[from + at]!
}

const addAt = (target: Float64Array, to: number, source: Float64Array) =>
  addScaled(target, to, source, 0, source.length, 1)

function softmax(logits: Float64Array): Float64Array {
  const most = logits.reduce((top, value) => Math.max(top, value), -Infinity)
  const shares = logits.map((value) => Math.exp(value - most))
  const sum = shares.reduce((total, value) => total + value, 0)
  return shares.map((value) => value / sum)
}
