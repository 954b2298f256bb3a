/** What a score depends on beside the evidence. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scoreOf, statusOf } from './verdict.ts'

const coverage = { share: 0.5, mass: 1, name: 0.5, core: 1, phrases: 0 }
const occasion = { tools: 64, words: 3, best: 0.4, coverage, isBuiltIn: false }

test('scoreOf() takes the same evidence for less among more tools, and for no more among few', () => {
  const among = (tools: number) => scoreOf(0.4, { ...occasion, tools })
  assert.equal(among(3), among(64))
  assert(among(64) > among(640))
  assert(among(640) > among(6400))
})

test('scoreOf() takes the same evidence for less where a built-in tool comes first, but not for nothing', () => {
  assert(scoreOf(0.4, { ...occasion, isBuiltIn: true }) < scoreOf(0.4, occasion) - 0.1)
  for (let best = -1; best < 3; best += 0.05) {
    const said = (isBuiltIn: boolean) => statusOf(scoreOf(best, { ...occasion, best, isBuiltIn })) === 'nothing_fits'
    assert.equal(said(true), said(false), String(best))
  }
})
