/**
 * The bound on calls under way holds back in order, and a call that is not wanted any more takes no
 * place.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '#model'
import { caller, done, openSpace, workspace } from '#test'
import { InFlight } from './in-flight.ts'
import type { OpenCall, SendingCall } from './open-call.ts'

const callOf = (id: number) => ({ id: String(id) }) as SendingCall

test('InFlight lets the next wanted call in when one leaves, however many were withdrawn before it', () => {
  const inFlight = new InFlight()
  const calls = Array.from({ length: limits.callsInFlightMax }, (_, id) => callOf(id))
  const [first, second, third] = calls as [SendingCall, SendingCall, SendingCall]
  for (const call of calls) assert.ok(inFlight.enter(call))
  for (let i = 100; i < 110; i++) assert.ok(!inFlight.enter(callOf(i)))
  const isWanted = ({ id }: OpenCall) => id === '107' || id === '109'
  assert.equal(inFlight.leave(first, isWanted)?.id, '107')
  assert.ok(inFlight.enter(callOf(107)))
  assert.equal(inFlight.leave(second, isWanted)?.id, '109')
  assert.ok(inFlight.enter(callOf(109)))
  assert.equal(inFlight.leave(third, isWanted), undefined)
  assert.ok(inFlight.enter(callOf(200)))
})

test('calls that a program never awaited are all made, also those behind reads that are withdrawn at its end', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const code = `for (let i = 0; i < 100; i++) mcp.fx.wait({ ms: 50 }); for (let i = 0; i < 5; i++) mcp.fx.put({ key: 'k' + i, value: i }); return 'over'`
  const { status, result, callCount } = await verbs.execute({ implementation: { type: 'code', code } }, caller)
  assert.deepEqual([status, result, callCount], ['done', 'over', 105])
  assert.equal(done(space, 'put').length, 5)
})
