/**
 * Tests of servers that speak HTTP with SSE, with one whose stream and whose answers the
 * test holds in its hand.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { type Catalog, openCatalog } from '#catalog'
import { parseConfig, type Try } from '#model'
import { freePort, temporaryFolder } from '#test'

type Called = { stream: ServerResponse; response: ServerResponse; answer: () => void; request: IncomingMessage }

const results: Record<string, object> = {
  initialize: {
    protocolVersion: '2024-11-05',
    capabilities: { tools: {} },
    serverInfo: { name: 'old', version: '1' },
  },
  'tools/list': { tools: [{ name: 'echo', description: 'Echo.', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'hello' }] },
}

/** Each stream is a session of its own; `call` decides what becomes of a tool call. */
async function server(t: TestContext, call: (called: Called) => void) {
  const streams: ServerResponse[] = []
  const http = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://x')
    if (pathname === '/sse' && request.method !== 'GET') return void response.writeHead(405).end()
    if (pathname === '/sse') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`event: endpoint\ndata: /messages?session=${streams.push(response) - 1}\n\n`)
      return
    }
    if (pathname !== '/messages') return void response.writeHead(404).end()
    const stream = streams[Number(searchParams.get('session'))]!
    const text = await Array.fromAsync(request).then((chunks) => Buffer.concat(chunks).toString())
    const { id, method } = JSON.parse(text)
    const answer = () => {
      if (id !== undefined)
        stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} })}\n\n`)
      response.writeHead(202).end()
    }
    if (method === 'tools/call') call({ stream, response, answer, request })
    else answer()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => http.once('listening', resolve))
  t.after(() => {
    http.close()
    http.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/sse`, streams }
}

function open(t: TestContext, url: string, type: object = { type: 'sse' }): Catalog {
  const folder = temporaryFolder(t)
  const text = JSON.stringify({ servers: { old: { ...type, url, headers: { 'X-Mine': 'yes' } } } })
  const { servers } = parseConfig({ file: null, text, home: folder, env: {}, directory: folder })
  const catalog = openCatalog({ servers, folder, baseEnv: {} })
  t.after(() => catalog.close())
  return catalog
}

async function attempt(catalog: Catalog): Promise<unknown> {
  const tool = (await catalog.tool('old:echo'))!
  const outcome: Try = await catalog.try(tool, {}, { signal: new AbortController().signal, timeoutMs: 5000 })
  if (outcome.outcome === 'answered' && outcome.ok) return outcome.value
  return `${outcome.outcome} ${outcome.error.code}`
}

test('try() speaks with a server over a stream of events, with the headers of the configuration', async (t) => {
  const seen: unknown[] = []
  const { url, streams } = await server(t, ({ request, answer }) => {
    seen.push(request.headers['x-mine'])
    answer()
  })
  const catalog = open(t, url)
  assert.deepEqual([await attempt(catalog), await attempt(catalog)], ['hello', 'hello'])
  assert.deepEqual([seen, streams.length], [['yes', 'yes'], 1])
})

test('try() finds out by itself that an address is one of HTTP with SSE, as hosts do that do not write it down', async (t) => {
  const { url } = await server(t, ({ answer }) => answer())
  assert.equal(await attempt(open(t, url, {})), 'hello')
  const { problems } = await open(t, url.replace('/sse', '/nothing'), {}).tools()
  assert.match(String(problems[0]?.error), /Cannot reach the server "old": .*404/)
})

test('try() does not know the outcome when the stream breaks before the answer, and begins a new one for the next', async (t) => {
  let breaks = true
  const { url, streams } = await server(t, ({ stream, response, answer }) => {
    if (!breaks) return answer()
    response.writeHead(202).end()
    setTimeout(() => stream.destroy(), 50)
  })
  const catalog = open(t, url)
  assert.equal(await attempt(catalog), 'unknown UPSTREAM_UNREACHABLE')
  breaks = false
  assert.equal(await attempt(catalog), 'hello')
  assert.equal(streams.length, 2)
})

test('try() that was turned away was not sent, and a forgotten session is opened again', async (t) => {
  const statuses = [404, 403, 500]
  const { url, streams } = await server(t, ({ response, answer }) => {
    const status = statuses.shift()
    if (status === undefined) answer()
    else response.writeHead(status).end()
  })
  const catalog = open(t, url)
  assert.equal(await attempt(catalog), 'not_sent UPSTREAM_UNREACHABLE')
  assert.equal(await attempt(catalog), 'not_sent UPSTREAM_UNREACHABLE')
  assert.equal(streams.length, 2, 'what was forgotten was opened again, what was forbidden was not')
  assert.equal(await attempt(catalog), 'unknown UPSTREAM_UNREACHABLE')
  assert.equal(await attempt(catalog), 'hello')
})

test('tools() says why a server over a stream cannot be reached', async (t) => {
  const { url } = await server(t, () => {})
  for (const address of [url.replace('/sse', '/nothing'), `http://127.0.0.1:${await freePort()}/sse`]) {
    const { problems } = await open(t, address).tools()
    assert.equal(problems[0]?.error.code, 'UPSTREAM_UNREACHABLE', address)
    assert.match(problems[0].error.message, /404|ECONNREFUSED/)
  }
})
