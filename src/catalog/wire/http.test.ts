/**
 * Tests of servers behind an address, real ones and ones that break off in every way a network can.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { type Catalog, openCatalog } from '#catalog'
import { parseConfig, type Tool, type Try } from '#model'
import { freePort, root, temporaryFolder } from '#test'

const { handler } = await import(pathToFileURL(join(root, 'test', 'servers', 'eras.ts')).href)

async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

function open(t: TestContext, url: string, headers: Record<string, string> = {}): { catalog: Catalog; log: string[] } {
  const folder = temporaryFolder(t)
  const text = JSON.stringify({ servers: { web: { url, headers } } })
  const { servers } = parseConfig({ file: null, text, home: folder, env: {}, directory: folder })
  const log: string[] = []
  const catalog = openCatalog({ servers, folder, baseEnv: {}, log: (line) => log.push(line) })
  t.after(() => catalog.close())
  return { catalog, log }
}

const tool: Tool = {
  ...{ id: 'web:echo', server: 'web', name: 'echo', description: '', input: { type: 'object' }, annotations: {} },
  ...{ effect: 'unsafe', effectFrom: 'default', digest: '' },
}

function attempt(catalog: Catalog, timeoutMs = 5000): Promise<Try> {
  return catalog.try(tool, { word: 'hi' }, { signal: new AbortController().signal, timeoutMs })
}

function brief(outcome: Try): unknown {
  if (outcome.outcome === 'answered' && outcome.ok) return outcome.value
  return `${outcome.outcome} ${outcome.error.code}`
}

/**
 * A hand-made server of the legacy era; `call` answers tools/call, for whatever session was opened
 * last, `hear` hears all.
 */
function handMade(
  call: (request: IncomingMessage, response: ServerResponse, id: number) => void,
  hear: (method: string, params: { requestId: number }) => void = () => {},
): RequestListener {
  let sessions = 0
  return async (request, response) => {
    const text = await Array.fromAsync(request).then((chunks) => Buffer.concat(chunks).toString())
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method, params } = JSON.parse(text)
    hear(method, params)
    const say = (result: object, headers = {}) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
    const serverInfo = { name: 'hand-made', version: '1' }
    const hello = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
    if (method === 'initialize') return say(hello, { 'mcp-session-id': `session-${++sessions}` })
    if (method === 'tools/list') return say({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] })
    if (method === 'tools/call') return call(request, response, id)
    response.writeHead(id === undefined ? 202 : 400).end()
  }
}

function answer(response: ServerResponse, id: number, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } }))
}

test('a server of either era is understood over HTTP, and gets the headers of the configuration', async (t) => {
  for (const legacy of ['stateless', 'reject']) {
    const seen = new Set<string | undefined>()
    const serve = toNodeHandler(handler(legacy))
    const url = await listen(t, (request, response) => {
      seen.add(request.headers.authorization)
      void serve(request as never, response)
    })
    const { catalog, log } = open(t, url, { Authorization: 'Bearer token-of-mine' })
    assert.deepEqual(
      (await catalog.tools()).tools.map(({ id }) => id),
      ['web:echo', 'web:fail', 'web:grow'],
    )
    assert.equal(brief(await attempt(catalog)), 'hi')
    assert.deepEqual([catalog.eraOf('web'), log], ['modern', []])
    assert.deepEqual([...seen], ['Bearer token-of-mine'])
    await catalog.close()
  }
})

test('a server of the legacy era is understood over HTTP', async (t) => {
  const url = await listen(
    t,
    handMade((_, response, id) => answer(response, id, 'old')),
  )
  const { catalog, log } = open(t, url)
  assert.equal(brief(await attempt(catalog)), 'old')
  assert.deepEqual([catalog.eraOf('web'), log], ['legacy', []])
})

test('a cancel and a time-out reach a server behind an address: it is told, and its connection is let go', async (t) => {
  const told: { requestId: number }[] = []
  const calls: { id: number; isGone: boolean }[] = []
  const slow = (_: IncomingMessage, response: ServerResponse, id: number) => {
    const call = { id, isGone: false }
    calls.push(call)
    response.on('close', () => {
      call.isGone = true
    })
    if (calls.length % 2 === 0) response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  }
  const hear = (method: string, params: { requestId: number }) => {
    if (method === 'notifications/cancelled') told.push(params)
  }
  const { catalog } = open(t, await listen(t, handMade(slow, hear)))
  for (let round = 1; round < 4; round += 2) {
    const stop = new AbortController()
    const cancelled = catalog.try(tool, {}, { signal: stop.signal, timeoutMs: 60_000 })
    while (calls.length < round) await pause(10)
    stop.abort()
    assert.equal(brief(await cancelled), 'unknown CANCELLED')
    assert.equal(brief(await attempt(catalog, 300)), 'unknown CALL_TIMEOUT')
  }
  while (told.length < 4 || !calls.every(({ isGone }) => isGone)) await pause(10)
  assert.deepEqual(
    told.map(({ requestId }) => requestId),
    calls.map(({ id }) => id),
  )
})

test('try() of an address where nobody listens was not sent', async (t) => {
  const { catalog } = open(t, `http://127.0.0.1:${await freePort()}/mcp`)
  const outcome = await attempt(catalog)
  assert.equal(brief(outcome), 'not_sent UPSTREAM_UNREACHABLE')
  assert(outcome.outcome === 'not_sent')
  assert.match(outcome.error.message, /Cannot reach the server "web": .*ECONNREFUSED/)
})

test('try() was not sent when the server has gone since the last call', async (t) => {
  const listener = handMade((_, response, id) => answer(response, id, 'here'))
  const server = createServer({ keepAliveTimeout: 1 }, listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { catalog } = open(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  assert.equal(brief(await attempt(catalog)), 'here')
  await new Promise((resolve) => server.close(resolve))
  assert.equal(brief(await attempt(catalog)), 'not_sent UPSTREAM_UNREACHABLE')
})

test('try() was not sent when the server turns the request away, and unknown when it breaks', async (t) => {
  const table: [number, string][] = [
    [401, 'not_sent UPSTREAM_UNREACHABLE'],
    [429, 'not_sent UPSTREAM_UNREACHABLE'],
    [500, 'unknown UPSTREAM_UNREACHABLE'],
    [502, 'unknown UPSTREAM_UNREACHABLE'],
  ]
  for (const [status, expected] of table) {
    const url = await listen(
      t,
      handMade((_, response) => void response.writeHead(status).end('no')),
    )
    assert.equal(brief(await attempt(open(t, url).catalog)), expected, String(status))
  }
})

test('try() is unknown when the connection breaks before or in the middle of the answer, at once', async (t) => {
  const reset = await listen(
    t,
    handMade((request) => void request.socket.destroy()),
  )
  assert.equal(brief(await attempt(open(t, reset).catalog)), 'unknown UPSTREAM_UNREACHABLE')
  const half = await listen(
    t,
    handMade((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: message\n')
      setTimeout(() => response.destroy(), 20)
    }),
  )
  const began = Date.now()
  assert.equal(brief(await attempt(open(t, half).catalog)), 'unknown UPSTREAM_UNREACHABLE')
  assert(Date.now() - began < 3000, 'without waiting for the time-out')
})

test('try() is unknown after a time-out, and the connection goes on', async (t) => {
  let calls = 0
  const url = await listen(
    t,
    handMade((_, response, id) => {
      if (++calls > 1) answer(response, id, 'second')
    }),
  )
  const { catalog } = open(t, url)
  assert.equal(brief(await attempt(catalog, 50)), 'unknown CALL_TIMEOUT')
  assert.equal(brief(await attempt(catalog)), 'second')
})

test('try() begins a new session after the server has forgotten the old one', async (t) => {
  const url = await listen(
    t,
    handMade((request, response, id) => {
      const session = request.headers['mcp-session-id']
      if (session === 'session-1') response.writeHead(404).end()
      else if (session === 'session-2') response.writeHead(400).end()
      else answer(response, id, String(session))
    }),
  )
  const { catalog } = open(t, url)
  assert.equal(brief(await attempt(catalog)), 'not_sent UPSTREAM_UNREACHABLE')
  assert.equal(brief(await attempt(catalog)), 'not_sent UPSTREAM_UNREACHABLE')
  assert.equal(brief(await attempt(catalog)), 'session-3')
})
