/** Tests of how often a client may ask, and of how long it may take to do so. */
import assert from 'node:assert/strict'
import { connect as connectSocket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { serveHttp } from '#gateway'
import { limits } from '#model'
import { send, standIn } from '#test/gateway'
import { clientOfAddress, countStartingCalls, openRateLimit } from './rate-limit.ts'

type More = { rate?: { requests: number; executes: number }; requestMsMax?: number }

async function open(t: TestContext, more: More) {
  const verbs = standIn()
  const gateway = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '1', log: () => {}, ...more })
  t.after(() => gateway.close())
  return { ...gateway, verbs }
}

test('openRate() lets a burst of a minute through, then as many as come in, to each client alone', () => {
  let now = 0
  const rate = openRateLimit(60, () => now)
  for (let at = 0; at < 60; at++) assert.equal(rate.take('a'), 0)
  assert.equal(rate.take('a'), 1)
  assert.equal(rate.take('b'), 0)
  now += 999
  assert.equal(rate.take('a'), 1)
  now += 1
  assert.deepEqual([rate.take('a'), rate.take('a')], [0, 1])
  now += 10_000
  assert.deepEqual([rate.take('a', 10), rate.take('a', 20)], [0, 20])
  now += 3_600_000
  assert.deepEqual([rate.take('a', 1000), rate.take('a')], [0, 1], 'a batch larger than a minute empties the bucket')
})

test('openRate() remembers a limited number of clients', () => {
  const rate = openRateLimit(1, () => 0)
  assert.equal(rate.take('first'), 0)
  for (let at = 0; at < limits.rateClientsMax; at++) rate.take(`${at}`)
  assert.equal(rate.take('first'), 0, 'it was forgotten')
  assert.equal(rate.take(`${limits.rateClientsMax - 1}`), 60)
})

test('clientOfAddress() takes a network of the newer kind for one client', () => {
  assert.equal(clientOfAddress('::ffff:10.0.0.1'), '10.0.0.1')
  assert.equal(clientOfAddress('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  assert.equal(clientOfAddress('2001:db8::1'), '2001:db8:0:0::/64')
  assert.equal(clientOfAddress('::1'), '0:0:0:0::/64')
})

test('callsIn() counts what starts something, by the body', () => {
  const call = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } })
  assert.equal(countStartingCalls(call('execute')), 1)
  assert.equal(countStartingCalls(call('fx__pay')), 1)
  assert.equal(countStartingCalls([call('execute'), call('discover'), call('result'), call('execute'), null, 7]), 2)
  assert.equal(countStartingCalls({ method: 'tools/list' }), 0)
})

test('serveHttp() answers 429 with a time to whoever asks too often, and still lives', async (t) => {
  const { url } = await open(t, { rate: { requests: 3, executes: 3 } })
  const statuses: number[] = []
  for (let at = 0; at < 5; at++) statuses.push((await send(`${url}/api/runs`)).status)
  assert.deepEqual(statuses, [200, 200, 200, 429, 429])
  const { headers, text } = await send(`${url}/api/runs`)
  assert.equal(headers['retry-after'], '20')
  assert.equal(JSON.parse(text).error.code, 'BUDGET_EXCEEDED')
  assert.equal((await send(`${url}/healthz`)).status, 200)
})

test('/mcp answers 429 and an error of JSON-RPC to whoever starts too much, and lets it look on', async (t) => {
  const { url, verbs } = await open(t, { rate: { requests: 1000, executes: 2 } })
  const client = new Client({ name: 'host', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  t.after(() => client.close())
  const execute = () => client.callTool({ name: 'execute', arguments: { intent: 'x' } })
  await execute()
  await execute()
  await assert.rejects(execute(), (error: Error & { status?: number }) => error.status === 429)
  assert.equal(verbs.runs().length, 2, 'nothing was started')
  assert.equal((await client.callTool({ name: 'discover', arguments: { intent: 'x' } })).isError ?? false, false)
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 'seven',
    method: 'tools/call',
    params: { name: 'execute', arguments: {} },
  })
  const { status, headers, text } = await send(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const { id, error } = JSON.parse(text)
  assert.deepEqual(
    [status, headers['retry-after'], id, error.code, error.data],
    [429, '30', 'seven', -32000, { retryAfterSeconds: 30 }],
  )
})

/** Sends the beginning of a request and waits for what the gateway does about it. */
function begin(url: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connectSocket(Number(new URL(url).port), '127.0.0.1')
    socket.write(text)
    socket.setEncoding('utf8').on('data', (chunk) => (answer += chunk))
    socket.on('error', () => {}).on('close', () => resolve(answer))
  })
}

test('serveHttp() hangs up on whoever takes too long to ask', { timeout: 20_000 }, async (t) => {
  const { url } = await open(t, { requestMsMax: 200 })
  const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
  const [headers, body, chunked] = await Promise.all([
    begin(url, `${head}X-Slow: `),
    begin(url, `${head}Content-Length: 100\r\n\r\n{`),
    begin(url, `${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`),
  ])
  for (const answer of [headers, body, chunked]) assert.match(answer, /^HTTP\/1.1 408 /)
})

test('serveHttp() reads no more of a head than Node allows', async (t) => {
  const { url } = await open(t, {})
  const answer = await begin(url, `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`)
  assert.match(answer, /^HTTP\/1.1 431 /)
})
