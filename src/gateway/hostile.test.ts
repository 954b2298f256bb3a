/**
 * The gateway against clients that do not keep to the protocol: each gets an answer that says so,
 * and the others notice nothing.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { initialize, openGateway, post, send } from '#test/gateway'

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const discover = { name: 'discover', arguments: { intent: 'echo' } }
const call = (id: unknown, params: unknown = discover) => ({ jsonrpc: '2.0', id, method: 'tools/call', params })

test('/mcp answers every message that is none with an error, and goes on', async (t) => {
  const { url } = await openGateway(t)
  const { session } = await post(url, initialize)
  const legacy = { ...json, 'mcp-protocol-version': '2025-06-18', 'mcp-session-id': session! }
  const modern = { ...json, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'discover' }
  const wrong: [what: string, headers: Record<string, string>, body: unknown, status: number, code: number][] = [
    ['a batch of nothing', legacy, [], 400, -32600],
    ['a batch that begins a session', json, [initialize, call(3)], 400, -32600],
    ['a batch of the modern era', modern, [call(1, { ...discover, _meta: meta })], 400, -32600],
    ['a batch with one id twice', legacy, [call(7), call(7)], 400, -32600],
    ['a number', legacy, 5, 400, -32600],
    ['null', legacy, null, 400, -32600],
    ['no version of JSON-RPC', legacy, { id: 1, method: 'ping' }, 400, -32600],
    ['an id that is null', legacy, call(null), 400, -32600],
    ['an id that is an object', legacy, call({}), 400, -32600],
    ['a list of parameters', legacy, call(1, [1]), 400, -32600],
    ['a progress token that is an object', legacy, call(1, { ...discover, _meta: { progressToken: {} } }), 400, -32600],
    ['a name that is a number', legacy, call(1, { name: 5 }), 200, -32602],
    ['arguments that are a list', legacy, call(1, { ...discover, arguments: [1] }), 200, -32602],
    ['an unknown method', legacy, { jsonrpc: '2.0', id: 1, method: '__proto__' }, 200, -32601],
    ['an unknown version', { ...legacy, 'mcp-protocol-version': 'nonsense' }, call(5), 400, -32602],
    ['another type of content', { ...legacy, 'content-type': 'text/plain' }, call(1), 415, -32000],
    ['a client that takes no answer', { ...legacy, accept: 'text/html' }, call(1), 406, -32000],
  ]
  for (const [what, headers, body, status, code] of wrong) {
    const answer = await send(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.equal(answer.status, status, `${what}: ${answer.text}`)
    assert.match(answer.text, new RegExp(`"code":${code}\\b`), what)
  }
  const { status } = await post(url, call(50), session!)
  assert.equal(status, 200)
})

test('/mcp refuses what is nested without end, and takes what is nested deeply', async (t) => {
  const { url } = await openGateway(t)
  const { session } = await post(url, initialize)
  const modern = { ...json, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'execute' }
  const legacy = { ...json, 'mcp-protocol-version': '2025-06-18', 'mcp-session-id': session! }
  const body = (depth: number, _meta: object) => {
    const text = JSON.stringify(call(1, { name: 'execute', arguments: { args: 'HERE' }, _meta }))
    return text.replace('"HERE"', `${'{"a":['.repeat(depth)}"]}\\"["${']}'.repeat(depth)}`)
  }
  for (const [headers, _meta] of [
    [legacy, {}],
    [modern, meta],
  ] as const) {
    const deep = await send(`${url}/mcp`, { method: 'POST', headers, body: body(100, _meta) })
    assert.equal(deep.status, 200, deep.text)
    assert.match(deep.text, /"status":"done"/)
    for (const depth of [1000, 200_000]) {
      const { status, text } = await send(`${url}/mcp`, { method: 'POST', headers, body: body(depth, _meta) })
      assert.deepEqual([status, JSON.parse(text).error.code], [400, -32600], text)
      assert.match(text, /nested more deeply than \d+/)
    }
  }
})

test('/mcp refuses headers that are too large before anything reads them', async (t) => {
  const { url } = await openGateway(t)
  const large = { ...json, 'x-large': 'a'.repeat(60_000) }
  assert.equal((await send(`${url}/mcp`, { method: 'POST', headers: large, body: '{}' })).status, 431)
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`x-${index}`, 'a']))
  assert.equal((await send(`${url}/mcp`, { method: 'POST', headers: { ...json, ...many }, body: '{}' })).status, 431)
})

test('/mcp takes an id once at a time: the answer of the first is not given to the second', async (t) => {
  const { url } = await openGateway(t)
  const { session } = await post(url, initialize)
  const slow = (id: unknown) =>
    post(url, { ...call(id, { name: 'execute', arguments: { args: { waitMs: 300 } } }) }, session!)
  const first = slow(7)
  await new Promise((resolve) => setTimeout(resolve, 50))
  const [again, other] = await Promise.all([slow(7), slow('7')])
  assert.deepEqual([again.status, again.answer.error.code], [400, -32600])
  assert.equal(other.answer.result.structuredContent.status, 'done')
  assert.equal((await first).answer.result.structuredContent.status, 'done')
  assert.equal((await slow(7)).status, 200, 'the id is free again')
})

test('/mcp lets a client open its stream again after it was lost, and only one at a time', async (t) => {
  const { url } = await openGateway(t)
  const { session } = await post(url, initialize)
  const headers = { accept: 'text/event-stream', 'mcp-session-id': session!, 'mcp-protocol-version': '2025-06-18' }
  const open = async (more: Record<string, string> = {}) => {
    const lost = new AbortController()
    const { status } = await fetch(`${url}/mcp`, { signal: lost.signal, headers: { ...headers, ...more } })
    return { status, lost }
  }
  const first = await open()
  assert.deepEqual([first.status, (await open()).status], [200, 409])
  first.lost.abort()
  let again = await open({ 'last-event-id': 'nowhere' })
  for (let round = 0; round < 100 && again.status === 409; round++) again = await open({ 'last-event-id': 'nowhere' })
  assert.equal(again.status, 200)
  again.lost.abort()
})

test('/mcp/NAME answers 404 where there is no such server, whatever the name', async (t) => {
  const { url } = await openGateway(t)
  for (const name of ['', 'nope', '__proto__', '%E0%A4%A', 'a/b', '..%2f', 'constructor']) {
    const answer = await send(`${url}/mcp/${name}`, { method: 'POST', headers: json, body: JSON.stringify(initialize) })
    assert.equal(answer.status, 404, name)
  }
})
