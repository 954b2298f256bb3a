/** Tests of waits that are longer than a timer can be. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pause } from '#model'

test('pause() goes on after as much as one timer can wait', async () => {
  const began = performance.now()
  await pause(50, new AbortController().signal, 10)
  assert(performance.now() - began >= 45)
})

test('pause() does not fire at once where a timer would, and ends with its signal', { timeout: 10_000 }, async () => {
  await pause(0, new AbortController().signal)
  await assert.rejects(pause(2 ** 40, AbortSignal.timeout(20)), { name: 'AbortError' })
})
