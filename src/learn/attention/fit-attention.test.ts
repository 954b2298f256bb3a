/** The network itself: its slopes are right, the same seed gives the same weights, it learns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attend, gradientsOf, newNetwork } from './attention-network.ts'
import { type AttentionProblem, fitAttention } from './fit-attention.ts'

const problem: AttentionProblem = {
  tools: [
    ['read', 'file'],
    ['send', 'mail'],
    ['list', 'file'],
    ['pay', 'bill'],
  ],
  sets: [[0, 1], [0, 2, 3], [3]],
  cases: [
    { terms: ['file', 'mail', 'post'], tools: [0, 1] },
    { terms: ['bill', 'file', 'list'], tools: [0, 2, 3] },
    { terms: ['bill', 'pay', 'post'], tools: [3] },
  ],
}
const bags = [
  [0, 1],
  [1, 2],
  [3, 0],
  [2, 3],
]

test('gradientsOf() has the slopes of the loss, through both levels and every head', () => {
  let state = 7
  const dice = () => {
    state = (state * 16807) % 2147483647
    return state / 2147483647
  }
  const network = newNetwork(Float64Array.of(1, 0.5, 2, 1.5), problem, bags, dice)
  const batch = [
    { bag: [0, 2], tools: [0, 1], others: [2, 3] },
    { bag: [3], tools: [2], others: [1] },
  ]
  const { gradients } = gradientsOf(network, batch)
  for (const [name, values] of Object.entries(network.weights)) {
    const slopes = gradients[name as keyof typeof gradients]
    assert.ok(
      slopes.some((slope) => Math.abs(slope) > 1e-9),
      `${name} has slopes`,
    )
    for (let at = 0; at < values.length; at += Math.max(1, Math.floor(values.length / 25))) {
      const before = values[at]!
      const lossAt = (value: number) => {
        values[at] = value
        return gradientsOf(network, batch).loss
      }
      const step = 1e-5
      const measured = (lossAt(before + step) - lossAt(before - step)) / (2 * step)
      values[at] = before
      assert.ok(Math.abs(measured - slopes[at]!) < 1e-6, `${name}[${at}]: ${measured} and ${slopes[at]}`)
    }
  }
})

test('fitAttention() gives the same weights for the same past, and knows it by heart', () => {
  const options = { epochs: 60 }
  const model = fitAttention(problem, options)
  assert.deepEqual(fitAttention(problem, options), model)
  assert.notDeepEqual(fitAttention(problem, { ...options, seed: 2 }).vectors, model.vectors)
  const sharesOf = attend(model)
  for (const { terms, tools } of problem.cases) {
    const shares = sharesOf(terms)
    assert.ok(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 1) < 1e-9)
    const ranked = [...shares.keys()].sort((left, right) => shares[right]! - shares[left]!).slice(0, tools.length)
    assert.deepEqual(ranked.sort(), tools, `${terms}: ${[...shares]}`)
  }
  assert.ok(sharesOf(['unheard']).every((share) => share === 0))
})
