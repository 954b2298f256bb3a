/** When what a capability would have changed speaks against it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { interventionOf } from './intervention.ts'

const of = (repairs: number, regressions: number, ties: number, unknown = 0) =>
  interventionOf([
    ...Array(repairs).fill('repair'),
    ...Array(regressions).fill('regression'),
    ...Array(ties).fill('tie'),
    ...Array(unknown).fill('unknown'),
  ])

test('interventionOf() is against what breaks more than it repairs, and never after two runs', () => {
  assert.equal(of(0, 2, 0).isHarmful, false)
  assert.equal(of(0, 3, 0).isHarmful, true)
  assert.equal(of(0, 3, 7).isHarmful, true)
  assert.equal(of(0, 3, 17).isHarmful, false)
  assert.equal(of(6, 3, 11).isHarmful, false)
  assert.equal(of(0, 0, 0, 20).isHarmful, false)
  assert.deepEqual([of(1, 2, 3, 4).judged, of(1, 2, 3, 4).abstentions], [6, 4])
  assert.ok(of(5, 0, 0).lower > of(0, 0, 5).lower && of(0, 0, 5).lower > of(0, 5, 0).lower)
})
