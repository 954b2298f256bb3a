/** Who may enter, who waits, and who is refused. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { openBoundedSemaphore } from './bounded-semaphore.ts'

test('enter() lets so many in, and the next one when another leaves', async () => {
  const semaphore = openBoundedSemaphore(2, 10)
  const [leave] = await Promise.all([semaphore.enter(), semaphore.enter()])
  let isIn = false
  const third = semaphore.enter().then(() => (isIn = true))
  await new Promise(setImmediate)
  assert.equal(isIn, false)
  leave!()
  await third
})

test('enter() refuses by code: too many wait, or the script was cancelled', async () => {
  const semaphore = openBoundedSemaphore(1, 2)
  const leave = await semaphore.enter()
  const stop = new AbortController()
  const cancelled = semaphore.enter(stop.signal)
  const next = semaphore.enter()
  await assert.rejects(semaphore.enter(), { code: 'SANDBOX_SETUP_FAILED' })
  stop.abort()
  await assert.rejects(cancelled, { code: 'CANCELLED' })
  await assert.rejects(semaphore.enter(AbortSignal.abort()), { code: 'CANCELLED' })
  leave()
  await next
})
