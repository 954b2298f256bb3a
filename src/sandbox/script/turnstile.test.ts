/** Who may enter, who waits, and who goes away again. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { openTurnstile } from './turnstile.ts'

test('enter() lets so many in, and the others in the order in which they came', async () => {
  const turnstile = openTurnstile(2, 10)
  const order: number[] = []
  const enter = (n: number) => turnstile.enter().then(() => order.push(n))
  const all = [1, 2, 3, 4].map(enter)
  await Promise.all(all.slice(0, 2))
  assert.deepEqual(order, [1, 2])
  turnstile.leave()
  await all[2]
  assert.deepEqual(order, [1, 2, 3])
  for (const _ of [1, 2]) turnstile.leave()
  await all[3]
  turnstile.leave()
  await enter(5)
  assert.deepEqual(order, [1, 2, 3, 4, 5])
})

test('enter() lets whoever is cancelled go, and keeps its place for nobody', async () => {
  const turnstile = openTurnstile(1, 2)
  await turnstile.enter()
  const stop = new AbortController()
  const cancelled = turnstile.enter(stop.signal)
  const next = turnstile.enter()
  await assert.rejects(turnstile.enter(), { code: 'SANDBOX_SETUP_FAILED' })
  stop.abort()
  await assert.rejects(cancelled, { code: 'CANCELLED' })
  await assert.rejects(turnstile.enter(AbortSignal.abort()), { code: 'CANCELLED' })
  turnstile.leave()
  await next
})
