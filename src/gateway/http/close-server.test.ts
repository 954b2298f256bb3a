/** How long the end of a server takes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { closeServer } from './close-server.ts'

async function openServer(answer: (response: ServerResponse) => void, options: RequestInit = {}) {
  const open = new Set<ServerResponse>()
  const server = createServer((_, response) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    answer(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const answered = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, options)
  answered.catch(() => {})
  await once(server, 'request')
  return { server, open, answered }
}

test('closeServer() lets an open answer finish', async () => {
  const { server, open, answered } = await openServer((response) => setTimeout(() => response.end('late'), 100))
  await closeServer(server, open, AbortSignal.timeout(10_000))
  assert.equal(await (await answered).text(), 'late')
})

test('closeServer() does not wait longer than the limit for an answer that never comes', async () => {
  const { server, open, answered } = await openServer(() => {})
  const start = performance.now()
  await closeServer(server, open, AbortSignal.timeout(100))
  const ms = performance.now() - start
  assert.ok(ms >= 90 && ms < 5000, `${ms} ms`)
  await assert.rejects(answered)
})

test('closeServer() does not wait for a request that has not come whole', async () => {
  const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('{')) })
  const { server, open, answered } = await openServer(() => {}, { method: 'POST', body, duplex: 'half' })
  await closeServer(server, open, AbortSignal.timeout(60_000))
  await assert.rejects(answered)
})
