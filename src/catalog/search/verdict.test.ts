/** What a score depends on beside the evidence. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scoreOf } from './verdict.ts'

test('scoreOf() takes the same evidence for less among more tools, and for no more among few', () => {
  const coverage = { share: 0.5, mass: 1, name: 0.5, core: 1, phrases: 0 }
  const among = (tools: number) => scoreOf(0.4, { tools, words: 3, best: 0.4, coverage })
  assert.equal(among(3), among(64))
  assert(among(64) > among(640))
  assert(among(640) > among(6400))
})
