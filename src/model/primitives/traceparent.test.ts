/** Trace contexts: what is one, and what a call makes of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTraceparent, spanIdOf, traceparentOf } from './traceparent.ts'

const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

test('parseTraceparent() reads what the standard allows and nothing else', () => {
  assert.deepEqual(parseTraceparent(given), {
    trace: '0af7651916cd43dd8448eb211c80319c',
    parent: 'b7ad6b7169203331',
    flags: '01',
  })
  const zeros = ['00-00000000000000000000000000000000-b7ad6b7169203331-01', `${given.slice(0, 36)}0000000000000000-01`]
  for (const wrong of [undefined, 1, '', `${given}-x`, given.toUpperCase(), given.replace('00-', 'ff-'), ...zeros]) {
    assert.equal(parseTraceparent(wrong), null, String(wrong))
  }
})

test('traceparentOf() keeps the trace and its flags, and names the span of the call as the parent', () => {
  const context = parseTraceparent(given)!
  assert.equal(traceparentOf(context, 'run', '3'), `00-${context.trace}-${spanIdOf('run', '3')}-01`)
  assert.notEqual(spanIdOf('run', '3'), spanIdOf('run', '4'))
})
