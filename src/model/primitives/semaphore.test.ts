/** Tests of the semaphore: who enters, who waits, and who leaves the queue. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { openSemaphore } from '#model'

test('acquire() grants so many permits at once, then in the order in which they were asked for', async () => {
  const semaphore = openSemaphore(2)
  const order: number[] = []
  const enter = async (number: number) => {
    const release = await semaphore.acquire()
    order.push(number)
    return release
  }
  const [first] = await Promise.all([enter(1), enter(2)])
  const third = enter(3)
  const fourth = enter(4)
  await new Promise(setImmediate)
  assert.deepEqual([order, semaphore.waiting], [[1, 2], 2])
  first!()
  first!()
  const releaseThird = await third
  await new Promise(setImmediate)
  assert.deepEqual(order, [1, 2, 3])
  releaseThird()
  await fourth
  assert.deepEqual([order, semaphore.waiting], [[1, 2, 3, 4], 0])
})

test('acquire() rejects with the reason of its signal, and keeps no place in the queue', async () => {
  const semaphore = openSemaphore(1)
  const release = await semaphore.acquire()
  const abort = new AbortController()
  const waiting = semaphore.acquire(abort.signal)
  const next = semaphore.acquire()
  abort.abort(new Error('enough'))
  await assert.rejects(waiting, /enough/)
  assert.equal(semaphore.waiting, 1)
  release()
  await next
  await assert.rejects(semaphore.acquire(AbortSignal.abort(new Error('before'))), /before/)
})
