/** Who may enter, who waits, and who is refused. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { openTurnstile } from './bounded-semaphore.ts'

test('enter() lets so many in, and the next one when another leaves', async () => {
  const turnstile = openTurnstile(2, 10)
  const [leave] = await Promise.all([turnstile.enter(), turnstile.enter()])
  let isIn = false
  const third = turnstile.enter().then(() => (isIn = true))
  await new Promise(setImmediate)
  assert.equal(isIn, false)
  leave!()
  await third
})

test('enter() refuses by code: too many wait, or the script was cancelled', async () => {
  const turnstile = openTurnstile(1, 2)
  const leave = await turnstile.enter()
  const stop = new AbortController()
  const cancelled = turnstile.enter(stop.signal)
  const next = turnstile.enter()
  await assert.rejects(turnstile.enter(), { code: 'SANDBOX_SETUP_FAILED' })
  stop.abort()
  await assert.rejects(cancelled, { code: 'CANCELLED' })
  await assert.rejects(turnstile.enter(AbortSignal.abort()), { code: 'CANCELLED' })
  leave()
  await next
})
