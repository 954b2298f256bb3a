/** The sessions of the legacy era: how many there may be, and which one goes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { openForms, readFormKey } from '#gateway/elicitation'
import { readBody } from '#gateway/http'
import { initialize, post, standIn } from '#test/gateway'
import { openSessions } from './sessions.ts'
import { createSurfaceServer } from './surface-server.ts'

const list = { id: 2, method: 'tools/list', params: {} }

async function openThree(t: TestContext) {
  const sessions = openSessions(
    () => createSurfaceServer(standIn(), '1', openForms(readFormKey('')), 'legacy'),
    () => {},
    3,
  )
  const server = createServer(async (request, response) => {
    const body = request.method === 'POST' ? await readBody(request) : null
    await sessions.serve(request, response, body?.ok ? body.value : undefined)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(async () => {
    await sessions.close()
    server.close().closeAllConnections()
  })
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push((await post(url, initialize)).session!)
  const stream = (session: string) => {
    const leave = new AbortController()
    const headers = { accept: 'text/event-stream', 'mcp-session-id': session }
    return fetch(`${url}/mcp`, { headers, signal: leave.signal }).then((response) => ({ response, leave }))
  }
  const statuses = async () => Promise.all(ids.map(async (id) => (await post(url, list, id)).status))
  return { url, ids, stream, statuses }
}

test('openSessions() lets the least recently used session give way to a new one', async (t) => {
  const { url, ids, statuses } = await openThree(t)
  assert.equal((await post(url, list, ids[0])).status, 200)
  assert.equal((await post(url, initialize)).status, 200)
  assert.deepEqual(await statuses(), [200, 404, 200])
})

test('openSessions() never ends a session that is in use, and opens none when all are', async (t) => {
  const { url, ids, stream, statuses } = await openThree(t)
  const streams = [await stream(ids[0]!), await stream(ids[1]!)]
  assert.equal((await post(url, initialize)).status, 200)
  assert.deepEqual(await statuses(), [200, 200, 404])
  const third = (await post(url, initialize)).session!
  streams.push(await stream(third))
  assert.ok(streams.every(({ response }) => response.status === 200))
  assert.equal((await post(url, initialize)).status, 503)
  streams[1]!.leave.abort()
  while ((await post(url, initialize)).status !== 200);
  assert.deepEqual(await statuses(), [200, 404, 404])
})

test('openSessions() keeps one stream for each session and takes a new one at once after the old one broke', async (t) => {
  const { ids, stream } = await openThree(t)
  const { leave } = await stream(ids[0]!)
  assert.equal((await stream(ids[0]!)).response.status, 409)
  leave.abort()
  const start = performance.now()
  while ((await stream(ids[0]!)).response.status !== 200);
  assert.ok(performance.now() - start < 2000)
})
