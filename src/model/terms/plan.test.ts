/** Tests of what the status of a run means. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { isFinished, runStatuses } from '#model'

test('isFinished() is true of the three ends of a run and of nothing else', () => {
  assert.deepEqual(runStatuses.filter(isFinished), ['done', 'failed', 'cancelled'])
  assert.equal(isFinished(undefined), false)
})
