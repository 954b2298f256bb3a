/** The gateway over HTTP: whom it refuses, what it reads, and how it closes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { test } from 'node:test'
import { limits } from '#model'
import { connect, initialize, openGateway, post, send, standIn, until } from '#test/gateway'
import { serveHttp } from './serve-http.ts'

const paths = ['/', '/healthz', '/mcp', '/api/runs', '/api/runs/x', '/api/events', '/api/tools', '/nowhere']
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

test('serveHttp() refuses a foreign Host on every path and with every method', async (t) => {
  const { url } = await openGateway(t)
  const foreign = [
    'evil.example',
    'evil.example:7420',
    '127.0.0.1.evil.example',
    'localhost.evil.example:80',
    '[::2]',
    '0.0.0.0',
    '10.0.0.1',
  ]
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const { status, text } = await send(url + path, { method, headers: { host: 'evil.example' } })
      assert.equal(status, 403, `${method} ${path}`)
      assert.equal(JSON.parse(text).error.code, 'PERMISSION_DENIED')
    }
  }
  for (const host of foreign) assert.equal((await send(`${url}/healthz`, { headers: { host } })).status, 403, host)
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:7420', '[::1]:7420', '127.8.9.1']) {
    assert.equal((await send(`${url}/healthz`, { headers: { host } })).status, 200, host)
  }
})

/** Sends exactly these lines, and reads until the gateway hangs up. */
function ask(url: string, head: string, { hangUp = true } = {}): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connectSocket(Number(new URL(url).port), '127.0.0.1')
    socket.write(`${head}\r\n\r\n`)
    if (hangUp) socket.end()
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      if (!hangUp) socket.destroy()
    })
    socket.on('close', () => resolve(text))
  })
}

test('serveHttp() refuses a request without a Host, and one for another machine than its Host', async (t) => {
  const { url } = await openGateway(t)
  assert.match(await ask(url, 'GET /healthz HTTP/1.0'), /^HTTP\/1.1 403 /)
  assert.match(await ask(url, 'GET /healthz HTTP/1.1\r\nHost: '), /^HTTP\/1.1 403 /)
  assert.match(await ask(url, 'GET /healthz HTTP/1.1'), /^HTTP\/1.1 400 /)
  assert.match(await ask(url, 'GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost'), /^HTTP\/1.1 404 /)
})

test('serveHttp() answers 400 to two Host, Origin or Authorization headers, whatever they say', async (t) => {
  const { url } = await openGateway(t)
  const own = url.replace('http://', '')
  const twice = (name: string, first: string, second: string) =>
    ask(
      url,
      `GET /healthz HTTP/1.1\r\n${name === 'Host' ? '' : `Host: ${own}\r\n`}${name}: ${first}\r\n${name}: ${second}`,
    )
  assert.match(await twice('Host', own, 'evil.example'), /^HTTP\/1.1 400 /)
  assert.match(await twice('Host', 'evil.example', own), /^HTTP\/1.1 400 /)
  assert.match(await twice('Host', own, own), /^HTTP\/1.1 400 /)
  assert.match(await twice('Origin', url, 'https://evil.example'), /^HTTP\/1.1 400 /)
  assert.match(await twice('Authorization', 'Bearer a', 'Bearer b'), /^HTTP\/1.1 400 /)
})

test('serveHttp() answers 404 where an address is none, and not with an error of its own', async (t) => {
  const { url, lines } = await openGateway(t)
  for (const address of ['//', 'http://', 'http://[::1', '//[/approvals', '/%', '*'])
    assert.match(await ask(url, `GET ${address} HTTP/1.1\r\nHost: localhost`), /^HTTP\/1.1 404 /, address)
  assert.deepEqual(lines, [])
})

test('serveHttp() has the kernel ask whether a silent client is still there', {
  skip: !existsSync('/proc/net/tcp'),
}, async (t) => {
  const { url } = await openGateway(t)
  const socket = connectSocket(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  const hexOf = (port: number) => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const [ours, theirs] = [Number(new URL(url).port), socket.localPort!].map(hexOf)
  let timer: string | undefined
  await until(() => {
    const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n')
    timer = rows.map((row) => row.trim().split(/\s+/)).find(([, to, from]) => to === ours && from === theirs)?.[5]
    return timer !== undefined
  })
  assert.match(timer!, /^02:/, 'the timer of keepalive runs')
})

test('/mcp refuses a body that is announced as too long before it comes', async (t) => {
  const { url } = await openGateway(t)
  const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${limits.httpBodyBytesMax + 1}`
  assert.match(await ask(url, head, { hangUp: false }), /^HTTP\/1.1 413 /)
})

test('serveHttp() refuses a foreign Origin on every path, also one of another port of this machine', async (t) => {
  const { url } = await openGateway(t)
  for (const path of paths) {
    const headers = { ...json, origin: 'http://evil.example' }
    assert.equal((await send(url + path, { method: 'POST', headers, body: '{}' })).status, 403, path)
  }
  for (const origin of ['null', 'http://localhost:1', 'http://127.0.0.1', url.replace('http', 'https'), '']) {
    assert.equal((await send(`${url}/healthz`, { headers: { origin } })).status, 403, origin)
  }
  assert.equal((await send(`${url}/healthz`, { headers: { origin: url } })).status, 200)
})

test('serveHttp() refuses to listen beyond loopback', async () => {
  for (const host of ['0.0.0.0', '::', '192.168.1.2', 'example.org', '']) {
    const options = { verbs: standIn(), host, port: 0, version: '1', log: () => {} }
    await assert.rejects(serveHttp(options), { code: 'CONFIG_INVALID', message: /^Cannot listen on/ }, host)
  }
})

test('serveHttp() says that a port is taken, or none', async (t) => {
  const { url } = await openGateway(t)
  const options = { verbs: standIn(), host: '127.0.0.1', port: Number(new URL(url).port), version: '1', log: () => {} }
  await assert.rejects(serveHttp(options), { code: 'CONFIG_INVALID', message: /the port is taken/ })
  for (const port of [Number.NaN, -1, 65_536]) {
    await assert.rejects(serveHttp({ ...options, port }), { code: 'CONFIG_INVALID', message: /^Cannot listen on/ })
  }
})

test('serveHttp() makes a new token at every start', async (t) => {
  const [one, two] = [await openGateway(t), await openGateway(t)]
  assert.match(one.token, /^[\w-]{43}$/)
  assert.notEqual(one.token, two.token)
})

test('serveHttp() answers 404 to an unknown path and 405 to an unknown method', async (t) => {
  const { url } = await openGateway(t)
  for (const path of [
    '/nowhere',
    '/api',
    '/mcp/',
    '/api/runs/',
    '/__proto__',
    '/constructor',
    '//mcp',
    '/api/runs/a/b',
  ]) {
    assert.equal((await send(url + path)).status, 404, path)
  }
  const put = await send(`${url}/mcp`, { method: 'PUT', headers: json, body: '{}' })
  assert.deepEqual([put.status, put.headers.allow], [405, 'GET, POST, DELETE'])
  const written = await send(`${url}/api/runs`, { method: 'POST', headers: json, body: '{}' })
  assert.deepEqual([written.status, written.headers.allow], [405, 'GET'])
})

test('/mcp answers bad JSON with a parse error and what is no JSON with 415', async (t) => {
  const { url } = await openGateway(t)
  for (const body of ['', '{', 'null}', '\u0000']) {
    const { status, text } = await send(`${url}/mcp`, { method: 'POST', headers: json, body })
    assert.deepEqual([status, JSON.parse(text).error.code, JSON.parse(text).id], [400, -32700, null], body)
  }
  const form = { ...json, 'content-type': 'text/plain' }
  for (const body of ['{}', JSON.stringify({ jsonrpc: '2.0', ...initialize })]) {
    assert.equal((await send(`${url}/mcp`, { method: 'POST', headers: form, body })).status, 415, body)
  }
  for (const body of ['null', '[]', '1', '"text"', '{}', '[[[]]]']) {
    const { status } = await send(`${url}/mcp`, { method: 'POST', headers: json, body })
    assert.equal(status, 400, body.slice(0, 20))
  }
})

test('/mcp reads a body up to the limit and not beyond, whether its length was told or not', async (t) => {
  const gateway = await openGateway(t)
  const client = await connect(t, gateway, 'modern')
  const text = 'x'.repeat(limits.httpBodyBytesMax - 1024)
  const fits = await client.callTool({ name: 'execute', arguments: { args: { text } } })
  assert.equal((fits.structuredContent as { status: string }).status, 'done')
  const body = `{"a":"${'x'.repeat(limits.httpBodyBytesMax)}"}`
  for (const framing of [{ 'content-length': body.length }, { 'transfer-encoding': 'chunked' }]) {
    const answer = await send(`${gateway.url}/mcp`, { method: 'POST', headers: { ...json, ...framing }, body })
    assert.equal(answer.status, 413)
    assert.match(JSON.parse(answer.text).error.message, /^Cannot read the request/)
  }
})

test('/mcp takes what it will not read from a client that listens only after it has spoken', async (t) => {
  const { url } = await openGateway(t)
  const socket = connectSocket(Number(new URL(url).port), '127.0.0.1').pause()
  t.after(() => socket.destroy())
  const bytes = 8 * limits.httpBodyBytesMax
  socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
  await new Promise((resolve) => socket.write(`${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n0\r\n\r\n`, resolve))
  const [first] = await once(socket.resume(), 'data')
  assert.match(String(first), /^HTTP\/1.1 413 /)
})

test('/mcp survives a call nested deeper than any stack', async (t) => {
  const { url } = await openGateway(t)
  const { session } = await post(url, initialize)
  const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`
  const body = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute","arguments":${deep}}}`
  await send(`${url}/mcp`, { method: 'POST', headers: { ...json, 'mcp-session-id': session! }, body })
  const list = '['.repeat(100_000) + ']'.repeat(100_000)
  assert.ok((await send(`${url}/mcp`, { method: 'POST', headers: json, body: list })).status >= 400)
  assert.equal((await send(`${url}/healthz`)).status, 200)
})

test('/mcp opens no session without initialize, and knows none that has ended', async (t) => {
  const { url } = await openGateway(t)
  const list = { id: 2, method: 'tools/list', params: {} }
  assert.equal((await post(url, list)).status, 400)
  assert.equal((await post(url, list, 'no-such-session')).status, 404)
  assert.equal((await send(`${url}/mcp`, { headers: { accept: 'text/event-stream' } })).status, 400)
  const { session } = await post(url, initialize)
  assert.equal((await post(url, list, session!)).status, 200)
  const ended = await send(`${url}/mcp`, { method: 'DELETE', headers: { 'mcp-session-id': session! } })
  assert.equal(ended.status, 200)
  assert.equal((await post(url, list, session!)).status, 404)
})

test('close() ends streams, sessions and idle connections, and answers nothing afterwards', async (t) => {
  const gateway = await openGateway(t)
  const { session } = await post(gateway.url, initialize)
  const headers = { accept: 'text/event-stream', 'mcp-session-id': session! }
  const streams = [await fetch(`${gateway.url}/mcp`, { headers }), await fetch(`${gateway.url}/api/events`)]
  const ended = Promise.all(streams.map((stream) => stream.text()))
  const { port } = new URL(gateway.url)
  const silent = connectSocket(Number(port), '127.0.0.1')
  const gone = new Promise((resolve) => silent.on('close', resolve))
  const call = post(
    gateway.url,
    { id: 2, method: 'tools/call', params: { name: 'execute', arguments: { args: { waitMs: 3000 } } } },
    session!,
  )
  await until(() => gateway.verbs.runs().length === 1)
  await gateway.close()
  assert.equal(gateway.verbs.runs()[0]!.status, 'running', 'nobody was waited for to the end')
  await Promise.all([ended, gone, call])
  await assert.rejects(fetch(`${gateway.url}/healthz`))
  await until(() => gateway.verbs.runs()[0]!.status === 'done')
  await gateway.close()
})

test('close() lets a call be answered that is about to be, in both eras', async (t) => {
  const gateway = await openGateway(t)
  const clients = [await connect(t, gateway, 'legacy'), await connect(t, gateway, 'modern')]
  const args = { name: 'execute', arguments: { args: { waitMs: 200 } } }
  const answers = clients.map((client) => client.callTool(args))
  await until(() => gateway.verbs.runs().length === 2)
  await gateway.close()
  for (const { structuredContent } of await Promise.all(answers)) {
    assert.equal((structuredContent as { status: string }).status, 'done')
  }
})

test('close() answers 503 to whoever still asks while the last answers are given', async (t) => {
  const gateway = await openGateway(t)
  const tools = Promise.withResolvers<{ tools: []; problems: [] }>()
  let asked = false
  gateway.verbs.tools = () => {
    asked = true
    return tools.promise
  }
  const last = fetch(`${gateway.url}/api/tools`)
  const late = connectSocket(Number(new URL(gateway.url).port), '127.0.0.1')
  await once(late, 'connect')
  await until(() => asked)
  const closed = gateway.close()
  late.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  assert.match(String((await once(late, 'data'))[0]), /^HTTP\/1.1 503 /)
  tools.resolve({ tools: [], problems: [] })
  assert.equal((await last).status, 200)
  await closed
})
