/**
 * The bound on calls under way holds back in order, and a call that nobody wants any more takes no
 * place.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '#model'
import { caller, done, openSpace, workspace } from '#test'
import { InFlight } from './in-flight.ts'
import type { OpenCall } from './open-call.ts'

const callOf = (id: number) => ({ id: String(id) }) as OpenCall

test('Flight lets the next wanted call in when one leaves, however many were withdrawn before it', () => {
  const flight = new InFlight()
  const calls = Array.from({ length: limits.callsInFlightMax }, (_, id) => callOf(id))
  const [first, second, third] = calls as [OpenCall, OpenCall, OpenCall]
  for (const call of calls) assert.ok(flight.enter(call))
  for (let i = 100; i < 110; i++) assert.ok(!flight.enter(callOf(i)))
  const isWanted = ({ id }: OpenCall) => id === '107' || id === '109'
  assert.equal(flight.leave(first, isWanted)?.id, '107')
  assert.ok(flight.enter(callOf(107)))
  assert.equal(flight.leave(second, isWanted)?.id, '109')
  assert.ok(flight.enter(callOf(109)))
  assert.equal(flight.leave(third, isWanted), undefined)
  assert.ok(flight.enter(callOf(200)))
})

test('calls that a program never awaited are all made, also those behind reads that are withdrawn at its end', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const code = `for (let i = 0; i < 100; i++) mcp.fx.wait({ ms: 50 }); for (let i = 0; i < 5; i++) mcp.fx.put({ key: 'k' + i, value: i }); return 'over'`
  const { status, result, callCount } = await verbs.execute({ implementation: { type: 'code', code } }, caller)
  assert.deepEqual([status, result, callCount], ['done', 'over', 105])
  assert.equal(done(space, 'put').length, 5)
})
