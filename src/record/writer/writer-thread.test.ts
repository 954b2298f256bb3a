/** The writer thread ends when it is told to, whatever was sent behind that word. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openSample } from '#test'

test('the writer thread closes its database, and passes over what was sent behind that', async (t) => {
  const { home } = await openSample(t)
  const worker = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: { home, process: '1' } })
  const messages = ['tend', 'close', 'tend', { early: [] }]
  for (const message of messages) worker.postMessage(message)
  // An error of the thread would be thrown here.
  assert.deepEqual(await once(worker, 'exit'), [0])
})
