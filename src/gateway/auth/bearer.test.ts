/** Tests of the bearer token: who is let in, and who is not. */
import assert from 'node:assert/strict'
import { statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { serveHttp } from '#gateway'
import { temporaryFolder } from '#test'
import { send, standIn } from '#test/gateway'
import { hasBearerToken, readToken, tokenFile } from './bearer.ts'

const http = { host: '127.0.0.1', port: 0 }

test('readToken() makes a token once, for its owner alone', (t) => {
  const home = temporaryFolder(t)
  const token = readToken(home)
  assert.match(token, /^[\w-]{43}$/)
  assert.equal(readToken(home), token)
  assert.equal(statSync(tokenFile(home)).mode & 0o777, 0o600)
  writeFileSync(tokenFile(home), 'short')
  assert.throws(() => readToken(home), { code: 'CONFIG_INVALID', message: /too short/ })
})

test('bears() knows the token and nothing near it', () => {
  const token = 'a'.repeat(43)
  for (const right of [`Bearer ${token}`, `bearer  ${token}`]) assert(hasBearerToken({ authorization: right }, token))
  for (const wrong of ['', token, `Basic ${token}`, `Bearer ${token}a`, `Bearer ${token.slice(1)}`, 'Bearer '])
    assert(!hasBearerToken({ authorization: wrong }, token), wrong)
  assert(!hasBearerToken({}, token))
})

test('serveHttp() with a token answers nobody without it, except that it lives', async (t) => {
  const home = temporaryFolder(t)
  const bearer = readToken(home)
  const gateway = await serveHttp({ verbs: standIn(), ...http, version: '1', log: () => {}, auth: 'token', home })
  t.after(() => gateway.close())
  for (const path of ['/mcp', '/', '/api/runs', '/api/events', '/metrics', '/nothing']) {
    for (const headers of [{}, { authorization: `Bearer ${bearer}x` }]) {
      const { status, headers: given } = await send(`${gateway.url}${path}`, { headers })
      assert.deepEqual([status, given['www-authenticate']], [401, 'Bearer'], path)
    }
  }
  assert.equal((await send(`${gateway.url}/mcp`, { method: 'POST', body: '{}' })).status, 401)
  assert.equal((await send(`${gateway.url}/healthz`)).status, 200)
  const headers = { authorization: `Bearer ${bearer}` }
  assert.equal((await send(`${gateway.url}/api/runs`, { headers })).status, 200)
  assert.equal(
    (await send(`${gateway.url}/api/runs`, { headers: { ...headers, origin: 'http://evil.example' } })).status,
    403,
  )
  const client = new Client({ name: 'host', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers } }))
  assert.equal((await client.listTools()).tools.length, 3)
  await client.close()
})
