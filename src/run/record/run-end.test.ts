/** What the last event of a run says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits, RawJson } from '#model'
import { outcomeOf } from './run-end.ts'

test('outcomeOf() fails a run whose result is larger than the record keeps, so that it can end', () => {
  assert.deepEqual(outcomeOf({ ok: true, value: '1' }), { status: 'done', result: new RawJson('1') })
  const { status, error } = outcomeOf({ ok: true, value: `"${'x'.repeat(limits.blobBytesMax)}"` })
  assert.deepEqual([status, error?.code], ['failed', 'RESULT_TOO_LARGE'])
})
