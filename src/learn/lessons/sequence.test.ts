/** The interval order: what followed what, reduced, and nothing for overlap. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { edgeWeight } from '#learn/graph'
import { sequenceEdges } from './sequence.ts'

const edges = (...calls: [id: string, start: number, end: number][]) =>
  sequenceEdges(calls.map(([id, start, end]) => ({ id, start, end })))
    .map(({ from, to }) => `${from}>${to}`)
    .sort()

test('sequenceEdges() is the transitive reduction of the interval order', () => {
  assert.deepEqual(edges(['a', 0, 1], ['b', 2, 3], ['c', 4, 5]), ['a>b', 'b>c'])
  assert.deepEqual(edges(['a', 0, 1], ['b', 2, 5], ['c', 3, 4], ['d', 6, 7]), ['a>b', 'a>c', 'b>d', 'c>d'])
  assert.deepEqual(edges(['long', 0, 9], ['b', 1, 2], ['c', 3, 4]), ['b>c'], 'overlap is no edge')
})

test('sequenceEdges() does not depend on the order of the list, and bears calls of no length', () => {
  assert.deepEqual(edges(['c', 4, 5], ['a', 0, 1], ['b', 2, 3]), ['a>b', 'b>c'])
  assert.deepEqual(edges(['a', 1, 1], ['b', 1, 1]), [])
  assert.deepEqual(edges(['a', 0, 1], ['b', 1, 2]), ['a>b'], 'one ends as the other begins')
})

test('edgeWeight() has the default of each type', () => {
  const types = ['dependency', 'provides', 'contains', 'alternative', 'sequence'] as const
  assert.deepEqual(types.map(edgeWeight), [1, 0.7, 0.8, 0.6, 0.5])
})
