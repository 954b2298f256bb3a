/** Tests of leaving a server alone that cannot be started. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError, limits } from '#model'
import { Backoff } from './backoff.ts'

const error = new AppError('UPSTREAM_UNREACHABLE', 'Cannot reach the server "x"', { server: 'x' })

test('Backoff waits longer and longer after the free tries, up to a bound, and starts anew after a success', () => {
  const backoff = new Backoff()
  assert.equal(backoff.problemAt(0), null)
  const waits = Array.from({ length: 12 }, () => {
    backoff.failed(error, 1000)
    return backoff.problemAt(1000)?.context.retryMs ?? 0
  })
  const free = limits.upstreamFreeStartsMax - 1
  assert.deepEqual(waits.slice(0, free), Array(free).fill(0))
  const [min, max] = [limits.upstreamBackoffMsMin, limits.upstreamBackoffMsMax]
  assert.deepEqual(waits.slice(free, free + 3), [min, min * 2, min * 4])
  assert.equal(waits.at(-1), max)
  assert.equal(backoff.problemAt(1000 + max), null, 'then it is time')
  const problem = backoff.problemAt(1000)!
  assert.deepEqual([problem.code, problem.context], ['UPSTREAM_UNREACHABLE', { server: 'x', retryMs: max }])
  backoff.succeeded()
  assert.equal(backoff.problemAt(1000), null)
})
