/**
 * Tests of how authorization servers are asked: whom a server may send us to, and how much of an
 * answer is read.
 */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { limits } from '#model'
import { authorizationFetch } from './authorization-fetch.ts'

async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('authorizationFetch() lets a server elsewhere send us neither to this machine nor over an open line', async (t) => {
  let asked = 0
  const here = await listen(t, (_, response) => {
    asked++
    response.end('{}')
  })
  const port = new URL(here).port
  const remote = authorizationFetch('https://mcp.example/mcp')
  for (const address of [
    here,
    `http://localhost:${port}/`,
    `https://127.0.0.1:${port}/`,
    `https://[::1]:${port}/`,
    `https://a.localhost:${port}/`,
  ])
    await assert.rejects(
      remote(address),
      { code: 'PERMISSION_DENIED', message: /no business on this machine/ },
      address,
    )
  for (const address of ['http://login.example/', 'ftp://login.example/', 'file:///etc/passwd'])
    await assert.rejects(remote(address), { code: 'PERMISSION_DENIED', message: /it is not https/ }, address)
  assert.equal(asked, 0)
  assert.equal((await authorizationFetch('http://127.0.0.1:1/mcp')(here)).status, 200)
})

test('authorizationFetch() follows whoever reads, a few times, and nobody who sends', async (t) => {
  const paths: string[] = []
  const here = await listen(t, (request, response) => {
    paths.push(`${request.method} ${request.url}`)
    const left = Number(request.url!.slice(1))
    if (left === 0) return response.end('{"found":true}')
    response.writeHead(307, { location: `/${left - 1}` }).end()
  })
  const fetch = authorizationFetch(here)
  assert.deepEqual(await (await fetch(`${here}/3`)).json(), { found: true })
  await assert.rejects(fetch(`${here}/9`), { message: /it sends us elsewhere/ })
  paths.length = 0
  await assert.rejects(fetch(`${here}/1`, { method: 'POST', body: 'refresh_token=secret' }), {
    message: /sends us elsewhere/,
  })
  assert.deepEqual(paths, ['POST /1'])
})

test('authorizationFetch() reads no more than an answer may have', async (t) => {
  const here = await listen(t, (request, response) => {
    response.end('x'.repeat(limits.oauthAnswerBytesMax + (request.url === '/more' ? 1 : 0)))
  })
  const fetch = authorizationFetch(here)
  assert.equal((await (await fetch(here)).text()).length, limits.oauthAnswerBytesMax)
  await assert.rejects(fetch(`${here}/more`), { message: /answers with too much/ })
})
