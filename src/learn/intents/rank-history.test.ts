/** What was used for intents like this comes first; where nothing is known the words decide. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { joinParts } from './rank-history.ts'

const unknown = { history: 0, context: 0, success: null }

test('joinParts() leaves the score of the words as it is where nothing else is known', () => {
  for (const words of [0, 0.123, 0.5, 0.97, 1]) assert.equal(joinParts({ words, ...unknown }), words)
})

test('joinParts() puts a tool that a third of the near intents used above one that only words speak for', () => {
  const used = joinParts({ ...unknown, words: 0.1, history: 0.2 })
  assert.ok(used > 0.85)
  assert.ok(used > joinParts({ words: 0.8, ...unknown }))
})

test('joinParts() keeps the order of what history says, below tools that are called by their names', () => {
  const shares = [0.05, 0.1, 0.2, 0.4, 0.8, 1]
  const scores = shares.map((history) => joinParts({ ...unknown, words: 0.6, history }))
  assert.deepEqual(
    scores,
    scores.toSorted((left, right) => left - right),
  )
  assert.equal(new Set(scores.map((score) => score.toFixed(3))).size, shares.length)
  assert.ok(scores.every((score) => score < 0.97))
  assert.equal(joinParts({ ...unknown, words: 0.99, history: 1 }), 0.99)
})

test('joinParts() lowers a tool that fails, whatever its words say', () => {
  assert.ok(joinParts({ ...unknown, words: 0.9, success: 0.1 }) < 0.8)
})

test('joinParts() ranks by the planner as far as it is trusted, and not at all where it is not', () => {
  const parts = { words: 0.6, history: 0.1, context: 0, success: null }
  const score = (share: number, trust: number) => joinParts({ ...parts, planned: { share, trust } })
  assert.ok(Math.abs(score(0.9, 0) - joinParts(parts)) < 1e-9)
  assert.ok(score(0.9, 1) > 0.9 && score(0.3, 1) > 0.5 && score(0.01, 1) < 0.1)
  assert.ok(score(0.01, 0.2) > score(0.01, 0.8), 'the less it is trusted, the more the words count')
})
