/**
 * The catalogue against servers that break the protocol on purpose: each gets what it deserves, and
 * the others notice nothing.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Catalog, openCatalog } from '#catalog'
import { boundedFetch } from '#catalog/wire'
import { type Json, limits, parseConfig, type Try } from '#model'
import { temporaryFolder } from '#test'

function open(t: TestContext, servers: Record<string, object>): Catalog {
  const folder = temporaryFolder(t)
  const config = parseConfig({
    file: null,
    text: JSON.stringify({ servers }),
    home: folder,
    env: {},
    directory: folder,
  })
  const catalog = openCatalog({ servers: config.servers, folder, baseEnv: { PATH: process.env.PATH! } })
  t.after(() => catalog.close())
  return catalog
}

/**
 * Scripts of a server over stdio: what it does when it is called, and when it is asked for its
 * tools.
 */
type Scripts = { call?: string; list?: string }

const one = `say(id, { tools: [{ name: 'call', inputSchema: { type: 'object' } }] })`

function hostile({ call = `say(id, { content: [] })`, list = one }: Scripts): object {
  const script = `
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
    const say = (id, result) => send({ id, result })
    const text = (words) => ({ content: [{ type: 'text', text: String(words) }] })
    const deep = (depth) => '{"a":['.repeat(depth) + ']}'.repeat(depth)
    /** As fast as it is read. */
    const flood = (message) => {
      for (let count = 0; count < 100; count++) send(message)
      process.stdout.writableLength > 1e6 ? process.stdout.once('drain', () => flood(message)) : setImmediate(flood, message)
    }
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      const hello = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
      if (method === 'initialize') say(id, hello)
      if (method === 'tools/list') { ${list} }
      if (method === 'tools/call') { ${call} }
    })`
  return { command: process.execPath, args: ['-e', script] }
}

async function attempt(catalog: Catalog, id: string, args: Json = {}, timeoutMs = 10_000): Promise<Try> {
  const tool = await catalog.tool(id)
  assert(tool !== undefined, `there is ${id}`)
  return catalog.try(tool, args, { signal: new AbortController().signal, timeoutMs })
}

/** The outcome in short: value, or code of the error. */
function brief(outcome: Try): unknown {
  if (outcome.outcome === 'answered' && outcome.ok) return outcome.value
  return `${outcome.outcome} ${outcome.error.code}`
}

test('try() gives a call its own answer, whatever else the server says with the same id or another', async (t) => {
  const catalog = open(t, {
    twice: hostile({ call: `say(id, text('one')); say(id, text('two'))` }),
    strange: hostile({
      call: `for (const other of [9999, -1, 'x', '', 1.5]) say(other, text('no')); say(id, text('one'))`,
    }),
    none: hostile({
      call: `for (const other of [true, null, [id], {}]) say(other, text('no')); setTimeout(() => say(id, text('one')), 50)`,
    }),
    asks: hostile({
      call: `for (const method of ['ping', 'roots/list', 'nonsense']) send({ id, method }); setTimeout(() => say(id, text('one')), 50)`,
    }),
  })
  for (const server of ['twice', 'strange', 'none', 'asks']) {
    for (let round = 0; round < 2; round++) assert.equal(brief(await attempt(catalog, `${server}:call`)), 'one', server)
  }
})

test('try() does not know the outcome where all that came back has an id that is none', async (t) => {
  const catalog = open(t, { lists: hostile({ call: `say([id], text('no'))` }) })
  assert.equal(brief(await attempt(catalog, 'lists:call', {}, 300)), 'unknown CALL_TIMEOUT')
})

test('try() takes an answer that is nested without end for an error of the tool, and a text of that kind for a text', async (t) => {
  const raw = (depth: number) =>
    hostile({
      call: `process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"structuredContent":' + deep(${depth}) + '}}\\n')`,
    })
  const catalog = open(t, {
    ...{ deep: raw(100_000), flat: raw(200) },
    told: hostile({ call: `say(id, text(deep(100_000)))` }),
    refused: hostile({
      call: `process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"error":{"code":1,"message":"no","data":' + deep(100_000) + '}}\\n')`,
    }),
  })
  for (const server of ['deep', 'refused']) {
    const outcome = await attempt(catalog, `${server}:call`)
    assert.equal(brief(outcome), 'answered TOOL_ERROR')
    assert.match(JSON.stringify(outcome), /nested more deeply than \d+ levels/)
  }
  assert.equal(typeof brief(await attempt(catalog, 'flat:call')), 'object')
  assert.equal(typeof brief(await attempt(catalog, 'told:call')), 'string')
})

test('tools() of a list that never ends, is too large or nested without end is a problem that says so, and no other server has it', async (t) => {
  const page = (count: number, bytes: number) =>
    `say(id, { tools: Array.from({ length: ${count} }, (_, at) => ({ name: 'call' + id + '_' + at, inputSchema: { type: 'object', title: 'x'.repeat(${bytes}) } })), nextCursor: String(id) })`
  const catalog = open(t, {
    endless: hostile({ list: page(1, 1) }),
    large: hostile({ list: page(50, 100_000) }),
    deep: hostile({
      list: `process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":' + deep(100_000) + '}}]}}\\n')`,
    }),
    fine: hostile({}),
  })
  const { tools, problems } = await catalog.tools()
  assert.deepEqual(
    tools.map(({ id }) => id),
    ['fine:call'],
  )
  const said = Object.fromEntries(problems.map(({ server, error }) => [server, error.message]))
  assert.match(said.endless!, /its list of tools has more than 1000 pages/)
  assert.match(said.large!, new RegExp(`its list of tools has more than ${limits.catalogListBytesMax} bytes`))
  assert.match(said.deep!, /nested more deeply than/)
})

test('tools() takes ten thousand tools, names of every kind, and schemas that refer to themselves', async (t) => {
  const names = ['__proto__', 'constructor', 'toString', 'a/b', 'a:b', 'a__b', 'rеad', 'read', ' ']
  const catalog = open(t, {
    many: hostile({
      list: `say(id, { tools: Array.from({ length: 10_000 }, (_, at) => ({ name: 'call' + at, inputSchema: { type: 'object' } })) })`,
    }),
    named: hostile({
      list: `say(id, { tools: ${JSON.stringify(names)}.map((name) => ({ name, inputSchema: { type: 'object', $ref: '#', properties: { a: { $ref: '#/properties/b' }, b: { $ref: '#/properties/a' } } } })) })`,
      call: `say(id, text(params.name))`,
    }),
  })
  assert.equal((await catalog.tools({ server: 'many' })).tools.length, 10_000)
  for (const name of names) {
    const tool = await catalog.tool(`named:${name}`)
    assert.equal(catalog.problemOf(tool!, { a: 1 }), null)
    assert.equal(brief(await attempt(catalog, `named:${name}`, { a: 1, __proto__: 2, constructor: 3 })), name)
  }
  for (const name of ['hasOwnProperty', '']) assert.equal(await catalog.tool(`named:${name}`), undefined)
})

test('a server that asks without end and reads no answer is ended, and one that only talks without end keeps nobody waiting', async (t) => {
  const catalog = open(t, {
    deaf: hostile({
      call: `say(id, text(process.pid)); process.stdin.pause(); flood({ id: 'x'.repeat(100_000), method: 'ping' })`,
    }),
    loud: hostile({
      call: `say(id, text('one')); flood({ method: 'notifications/message', params: { level: 'info', data: 'x' } })`,
    }),
    fine: hostile({ call: `say(id, text('one'))` }),
  })
  const first = brief(await attempt(catalog, 'deaf:call'))
  while (isAlive(Number(first))) await pause(20)
  assert.notEqual(brief(await attempt(catalog, 'deaf:call')), first)
  assert.equal(brief(await attempt(catalog, 'loud:call')), 'one')
  for (let round = 0; round < 20; round++) assert.equal(brief(await attempt(catalog, 'fine:call', {}, 2000)), 'one')
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('try() of a server behind an address takes an answer that is nested without end for an error of the tool', async (t) => {
  const server = createServer(async (request, response) => {
    const sent = Buffer.concat(await Array.fromAsync(request)).toString()
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method } = JSON.parse(sent)
    if (id === undefined) return void response.writeHead(202).end()
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'x', version: '1' },
    }
    const known: Record<string, object> = {
      initialize: hello,
      'tools/list': { tools: [{ name: 'call', inputSchema: { type: 'object' } }] },
    }
    if (method !== 'tools/call' && known[method] === undefined) return void response.writeHead(400).end()
    const deep = `{"structuredContent":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const result = method === 'tools/call' ? deep : JSON.stringify(known[method])
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`)
  }).listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await new Promise((resolve) => server.once('listening', resolve))
  const catalog = open(t, { web: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` } })
  assert.equal(brief(await attempt(catalog, 'web:call')), 'answered TOOL_ERROR')
})

test('a server that asks more at once than anybody could answer is told so, and the questions before are answered', async (t) => {
  const catalog = open(t, {
    curious: hostile({
      call: `const asked = Array.from({ length: 100 }, (_, at) => 'q' + at)
        const answers = []
        const count = (key) => answers.filter((answer) => key in answer).length
        process.stdin.on('data', (chunk) => {
          for (const line of String(chunk).split('\\n').filter(Boolean)) answers.push(JSON.parse(line))
          if (answers.length === 100) say(id, text(count('result') + ' answered, ' + count('error') + ' refused'))
        })
        for (const id of asked) send({ id, method: 'elicitation/create', params: { message: id, requestedSchema: { type: 'object', properties: {} } } })`,
    }),
  })
  const capabilities = { elicitation: {} }
  const passage = catalog.passage('curious', { capabilities, shared: false, heard: () => {} })
  const tool = (await catalog.tool('curious:call'))!
  const ask = () => pause(200, { action: 'accept', content: {} })
  const signal = new AbortController().signal
  const outcome = await catalog.try(tool, {}, { signal, timeoutMs: 10_000, attendant: { passage, ask } })
  const { questionsAtOnceMax: most } = limits
  assert.equal(brief(outcome), `${most} answered, ${100 - most} refused`)
})

test('passage() of ever more clients opens only so many conversations with a server: one that rests ends and is begun again', async (t) => {
  const sessions = new Set<string>()
  let begun = 0
  const server = createServer(async (request, response) => {
    const sent = Buffer.concat(await Array.fromAsync(request)).toString()
    const session = String(request.headers['mcp-session-id'])
    if (request.method === 'DELETE') sessions.delete(session)
    if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
    const { id, method } = JSON.parse(sent)
    if (id === undefined) return void response.writeHead(202).end()
    if (!['initialize', 'tools/list'].includes(method)) return void response.writeHead(400).end()
    if (method === 'initialize') sessions.add(`s${++begun}`)
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'x', version: '1' },
    }
    const headers = {
      'content-type': 'application/json',
      ...(method === 'initialize' && { 'mcp-session-id': `s${begun}` }),
    }
    const result = method === 'initialize' ? hello : { tools: [] }
    response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  }).listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await new Promise((resolve) => server.once('listening', resolve))
  const catalog = open(t, { web: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` } })
  const { passagesOpenMax: most } = limits
  const { signal } = new AbortController()
  const clients = Array.from({ length: most + 10 }, () =>
    catalog.passage('web', { capabilities: {}, shared: false, heard: () => {} }),
  )
  const ask = (passage: (typeof clients)[number]) => passage.request('tools/list', {}, {}, signal)
  for (const passage of clients) assert.deepEqual(await ask(passage), { tools: [] })
  for (let round = 0; round < 100 && sessions.size > most; round++) await pause(10)
  assert.equal(sessions.size, most)
  assert.deepEqual(await ask(clients[0]!), { tools: [] }, 'whose conversation ended begins another')
  const leaving = await Promise.all(clients.slice(-most).map((passage) => passage.listen([], signal)))
  await assert.rejects(ask(clients[0]!), /^.*Cannot reach the server "web" for another client: \d+ are in the middle/)
  await leaving[0]!()
  assert.deepEqual(await ask(clients[0]!), { tools: [] })
})

test('boundedFetch() breaks off a message that is too long, and lets a stream of short ones go on for ever', async () => {
  let broken = 0
  const answering = (type: string, chunks: string[]) => {
    const fetch = boundedFetch(
      async () =>
        new Response(ReadableStream.from(chunks.map((chunk) => Buffer.from(chunk))), {
          headers: { 'content-type': type },
        }),
      () => broken++,
      100,
    )
    return fetch('http://127.0.0.1/').then((response) => response.text())
  }
  const long = 'x'.repeat(60)
  const tooLong = /a message of more than 100 bytes/
  assert.equal((await answering('application/json', [long])).length, 60)
  await assert.rejects(answering('application/json', [`${long}\n\n`, long]), tooLong)
  for (const end of ['\n', '\r\n', '\r']) {
    const event = `data: ${long}${end}`
    const whole = Array.from({ length: 10 }, () => `${event}${end}`)
    assert.equal((await answering('text/event-stream', whole)).length, 10 * whole[0]!.length)
    const cut = Array.from({ length: 10 }, () => [event, end]).flat()
    assert.equal((await answering('text/event-stream; charset=utf-8', cut)).length, 10 * whole[0]!.length)
    await assert.rejects(answering('text/event-stream', [...whole, event, event]), tooLong)
  }
  assert.equal(broken, 4)
})
