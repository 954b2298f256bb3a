/** The read-only API: the record as JSON, as exact lines and as a stream that resumes. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { newId } from '#model'
import { openGateway, send, standIn, until } from '#test/gateway'
import { streamEvents } from './event-stream.ts'

test('GET /healthz answers with the version', async (t) => {
  const { url } = await openGateway(t)
  assert.deepEqual(JSON.parse((await send(`${url}/healthz`)).text), { ok: true, version: '1.2.3' })
})

test('GET /healthz answers 503 with the reason where no program could run', async (t) => {
  const { url, verbs } = await openGateway(t)
  verbs.health = () => ({ ok: false, reason: 'Cannot open a box: too many files are open' })
  const { status, text } = await send(`${url}/healthz`)
  assert.equal(status, 503)
  const reason = 'Cannot open a box: too many files are open'
  assert.deepEqual(JSON.parse(text), { ok: false, reason, version: '1.2.3' })
})

test('GET /metrics tells the figures of the record and of the process as Prometheus reads them', async (t) => {
  const { url, verbs } = await openGateway(t)
  await verbs.execute({ args: {} }, { actor: { kind: 'cli', name: 'test' } })
  const { status, headers, text } = await send(`${url}/metrics`)
  assert.deepEqual([status, headers['content-type']], [200, 'text/plain; version=0.0.4; charset=utf-8'])
  const families = text.split(/^(?=# HELP )/m)
  for (const family of families) {
    const [, name, type, samples] =
      /^# HELP (\w+) [^\n]+\n# TYPE \1 (gauge|counter)\n((?:\1(?:\{\w+="[\w.]+"\})? \d+(?:\.\d+)?\n)+)$/.exec(family) ??
      []
    assert.ok(samples, family)
    assert.equal(name!.endsWith('_total'), type === 'counter', family)
  }
  assert.match(text, /^metier_info\{version="1\.2\.3"\} 1$/m)
  assert.match(text, /^metier_runs\{status="done"\} 1$/m)
  assert.match(text, /^metier_runs\{status="uncertain"\} 0$/m)
  assert.match(text, /^metier_record_events 2$/m)
  assert.equal(new Set(families.map((family) => family.split(' ')[2])).size, families.length)
})

test('GET /api/… answers as the verbs do', async (t) => {
  const { url, verbs } = await openGateway(t)
  await verbs.execute({ args: { a: 1 } }, { actor: { kind: 'cli', name: 'test' } })
  const { run } = verbs.runs()[0]!
  const expected = {
    '/api/runs': verbs.runs(),
    [`/api/runs/${run}`]: await verbs.run(String(run)),
    '/api/approvals': [],
    '/api/tools': (await verbs.tools()).tools,
    '/api/ledger': await verbs.recentLedger(),
  }
  for (const [path, value] of Object.entries(expected)) {
    const { status, headers, text } = await send(`${url}${path}?ignored=1`)
    assert.deepEqual([status, headers['content-type'], JSON.parse(text)], [200, 'application/json', value], path)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['access-control-allow-origin'], undefined)
  }
})

test('GET /api/runs gives no more than are asked for, and refuses what is no number', async (t) => {
  const { url, verbs } = await openGateway(t)
  for (let i = 0; i < 3; i++) await verbs.execute({ args: { i } }, { actor: { kind: 'cli', name: 'test' } })
  const newest = JSON.parse((await send(`${url}/api/runs?limit=2`)).text)
  assert.deepEqual(newest, verbs.runs({ limit: 2 }))
  assert.equal(newest.length, 2)
  for (const limit of ['0', '-1', 'many', '1e3', '']) {
    const { status, text } = await send(`${url}/api/runs?limit=${limit}`)
    assert.deepEqual([status, JSON.parse(text).error.context.param], [400, 'limit'], limit)
  }
})

test('GET /api/runs/:id says that there is no such run', async (t) => {
  const { url } = await openGateway(t)
  for (const path of ['/api/runs/none', '/api/runs/none/events']) {
    const { status, text } = await send(url + path)
    assert.deepEqual(
      [status, JSON.parse(text).error.code, JSON.parse(text).error.fate],
      [404, 'RUN_NOT_FOUND', 'correct'],
    )
  }
})

test('GET /api/… answers 500 with the error when a verb fails, and logs it', async (t) => {
  const { url, verbs, lines } = await openGateway(t)
  verbs.tools = () => Promise.reject(new Error('the catalogue is gone'))
  const { status, text } = await send(`${url}/api/tools`)
  const error = { code: 'TOOL_INTERNAL_ERROR', message: 'the catalogue is gone', context: {}, fate: 'retry' }
  assert.deepEqual([status, JSON.parse(text)], [500, { error }])
  assert.match(lines.join('\n'), /GET \/api\/tools: \[TOOL_INTERNAL_ERROR\]/)
})

test('GET /api/runs/:id/events gives the exact lines of that run, over many pages', async (t) => {
  const { url, verbs } = await openGateway(t)
  await verbs.execute({}, { actor: { kind: 'cli', name: 'test' } })
  const run = String(verbs.runs()[0]!.run)
  const other = newId<never>() as string
  for (let i = 0; i < 700; i++) verbs.append(i % 2 ? run : other, 'run.logged', { text: `line\n${i} "é\u2028` })
  const lines = verbs
    .events(0, 10_000)
    .map(({ line }) => line)
    .filter((line) => JSON.parse(line).run === run)
  assert.equal((await send(`${url}/api/runs/${run}/events`)).text, lines.map((line) => `${line}\n`).join(''))
})

/** Reads events of a stream until there are enough, then leaves. */
async function readEvents(url: string, count: number, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/api/events`, { headers })
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  let text = ''
  const found = () =>
    [...text.matchAll(/^id: (\d+)\ndata: (.*)\n\n/gm)].map(([, seq, line]) => ({ seq: Number(seq), line }))
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (found().length >= count) break
  }
  return found()
}

test('GET /api/events streams old and new events, and resumes after Last-Event-ID', async (t) => {
  const { url, verbs } = await openGateway(t)
  const run = newId<never>() as string
  for (let i = 0; i < 1200; i++) verbs.append(run, 'run.logged', { i })
  const reading = readEvents(url, 1203)
  await new Promise((resolve) => setTimeout(resolve, 50))
  for (let i = 0; i < 3; i++) verbs.append(run, 'run.logged', { late: i })
  assert.deepEqual(await reading, verbs.events(0, 2000))
  const resumed = await readEvents(url, 3, { 'last-event-id': '1200' })
  assert.deepEqual(resumed, verbs.events(1200, 10))
  for (const id of ['-1', '1.5', 'x', '9'.repeat(16)]) {
    assert.equal((await send(`${url}/api/events`, { headers: { 'last-event-id': id } })).status, 400, id)
  }
})

test('GET /api/events leaves no listener behind when its client goes', async (t) => {
  const { url, verbs } = await openGateway(t)
  const subscribe = verbs.onChange
  let listening = 0
  verbs.onChange = (listener) => {
    listening++
    const unsubscribe = subscribe(listener)
    return () => {
      listening--
      unsubscribe()
    }
  }
  verbs.append('home', 'run.opened', {})
  await Promise.all([1, 2, 3].map(() => readEvents(url, 1)))
  await until(() => listening === 0)
})

test('GET /api/events refuses one stream too many, and takes a new one when an old one has ended', async (t) => {
  const { url } = await openGateway(t)
  const leave = new AbortController()
  const open = () => fetch(`${url}/api/events`, { signal: leave.signal })
  const streams = await Promise.all(Array.from({ length: 64 }, open))
  assert.ok(streams.every(({ status }) => status === 200))
  assert.equal((await open()).status, 503)
  leave.abort()
  for (let status = 503; status === 503; ) {
    const again = await fetch(`${url}/api/events`)
    status = again.status
    await again.body!.cancel()
  }
})

async function openStream(t: TestContext, heartbeatMs: number) {
  const stop = new AbortController()
  const server = createServer(
    (_, response) => void streamEvents(standIn(), response, { seq: 0, stop: stop.signal, heartbeatMs }),
  )
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}

test('streamEvents() sends a sign of life when nothing happens, and ends when it is told to stop', async (t) => {
  const { url, stop } = await openStream(t, 10)
  let text = ''
  for await (const chunk of (await fetch(url)).body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.split(': alive\n\n').length > 3) stop.abort()
  }
  assert.match(text, /^retry: 1000\n\n/)
})

test('GET / is a page that needs no script and allows none', async (t) => {
  const { url } = await openGateway(t)
  const { status, headers, text } = await send(`${url}/`)
  assert.equal(status, 200)
  assert.match(String(headers['content-security-policy']), /^default-src 'none';/)
  assert.doesNotMatch(text, /<script|<style|style=|onclick/i)
  for (const shown of [`${url}/mcp`, 'claude mcp add', '/api/runs']) assert.ok(text.includes(shown), shown)
})
