/** What a failure of a model says of the next try. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Model, ModelError } from '#agent/models'
import { modelServer } from './session-servers.ts'

async function tryOf(error: Error) {
  const complete: Model['complete'] = () => Promise.reject(error)
  const server = modelServer(async (name) => ({ name, contextTokens: 1, complete }))
  return server.try(server.tool('x')!, {}, { signal: new AbortController().signal, timeoutMs: 60_000 })
}

test('modelServer() hands on how long a provider asks to wait, and how often it is worth asking again', async () => {
  const busy = new ModelError('not_sent', 'UPSTREAM_UNREACHABLE', 'busy', { model: 'x' }, 7000)
  assert.deepEqual(await tryOf(busy), { outcome: 'not_sent', error: busy, retryAfterMs: 7000 })
  const unsaid = new ModelError('not_sent', 'UPSTREAM_UNREACHABLE', 'busy', { model: 'x' })
  assert.deepEqual(await tryOf(unsaid), { outcome: 'not_sent', error: unsaid })
  const cut = new ModelError('unknown', 'UPSTREAM_UNREACHABLE', 'cut', { model: 'x' })
  assert.deepEqual(await tryOf(cut), { outcome: 'unknown', error: cut, retriesMax: 1 })
  const refused = new ModelError('answered', 'PERMISSION_DENIED', 'no credit', { model: 'x' })
  assert.deepEqual(await tryOf(refused), { outcome: 'answered', ok: false, error: refused })
})
