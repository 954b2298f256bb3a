/** Rows are put without being read, and are what was put last, in this step and after it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { temporaryFolder } from '#test'
import { Rows } from './rows.ts'

test('Rows: what was put last stands there, whether it was read before or not', (t) => {
  const rows = new Rows(join(temporaryFolder(t), 'learn.db'))
  const step = (seq: number, work: () => void) =>
    rows.advance((_, at) => {
      at(seq)
      work()
      return { seq, n: seq, hash: String(seq) }
    })
  step(1, () => {
    rows.put('run', 'a', { n: 1 })
    rows.put('tool', 'b', { n: 1 })
    assert.deepEqual(rows.get('run', 'a'), { n: 1 })
  })
  step(2, () => {
    rows.put('tool', 'b', { n: 2 })
    rows.remove('run', 'a')
    rows.remove('run', 'never')
  })
  step(3, () => {
    assert.equal(rows.get('run', 'a'), undefined)
    rows.put('run', 'a', { n: 3 })
    assert.deepEqual(rows.get('tool', 'b'), { n: 2 })
  })
  assert.deepEqual(
    rows.changedSince(0).map(({ kind, key, value, n }) => [kind, key, value, n]),
    [
      ['run', 'a', { n: 3 }, 3],
      ['tool', 'b', { n: 2 }, 2],
    ],
  )
  rows.close()
})
