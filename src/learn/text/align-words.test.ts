/** Two texts are aligned by the longest run that both have, the first of several. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { alignWords } from './align-words.ts'

const aligned = (left: string, right: string) => alignWords(left.split(' '), right.split(' '))

test('alignWords() takes the longest common run first, then what stands on both sides of it', () => {
  const both = aligned('refund order 7 for Ann now', 'please refund order 9 for Bob now')
  assert.deepEqual(both, [
    [0, 1],
    [1, 2],
    [3, 4],
    [5, 6],
  ])
})

test('alignWords() takes the first of runs of one length, and crosses none', () => {
  assert.deepEqual(aligned('a b', 'b a'), [[0, 1]])
  assert.deepEqual(aligned('a a', 'a'), [[0, 0]])
  assert.deepEqual(aligned('x a a a y', 'a a'), [
    [1, 0],
    [2, 1],
  ])
  assert.deepEqual(alignWords([], ['a']), [])
})
