/**
 * One server passed through whole, over HTTP and stdio, with a host and a server of either era on
 * each side.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  Client,
  type ClientCapabilities,
  type ProtocolError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { serveHttp } from '#gateway'
import { type JsonObject, limits, spanIdOf } from '#model'
import { binary, openSpace, type Printed, root, type Workspace, workspace } from '#test'
import type { Verbs } from '#verbs'

type Era = 'modern' | 'legacy'
const eras: Era[] = ['modern', 'legacy']

function behind(t: TestContext, config: object = {}): Workspace {
  const space = workspace(t)
  const server = (era: Era) => ({
    command: process.execPath,
    args: [join(root, 'test', 'servers', 'conformance.ts')],
    env: { ERA: era },
  })
  const mcpServers = { modern: server('modern'), legacy: server('legacy') }
  writeFileSync(space.file, JSON.stringify({ mcpServers, policy: { permissions: 'privileged' }, ...config }))
  return space
}

const everything: ClientCapabilities = { elicitation: {}, sampling: {}, roots: {} }

type Host = { client: Client; asked: string[] }

/** A host that answers whatever it is asked. */
function host(era: Era, capabilities: ClientCapabilities = everything): Host {
  const asked: string[] = []
  const client = new Client(
    { name: 'host', version: '1.0.0' },
    {
      capabilities,
      versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' },
    },
  )
  if (capabilities !== everything) return { client, asked }
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { name: 'Ada', decision: 'once' } }
  })
  client.setRequestHandler('sampling/createMessage', () => {
    asked.push('sampling')
    return { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'none' }
  })
  client.setRequestHandler('roots/list', () => {
    asked.push('roots')
    return { roots: [{ uri: 'file:///a' }] }
  })
  return { client, asked }
}

async function overHttp(
  t: TestContext,
  era: Era,
  server: Era,
  config: object = {},
  capabilities: ClientCapabilities = everything,
): Promise<Host & { verbs: Verbs; url: string }> {
  const verbs = await openSpace(behind(t, config))
  const gateway = await serveHttp({
    verbs,
    host: '127.0.0.1',
    port: 0,
    version: '0',
    log: () => {},
  })
  const { client, asked } = host(era, capabilities)
  t.after(async () => {
    await client.close()
    await gateway.close()
    await verbs.close()
  })
  const url = `${gateway.url}/mcp/${server}`
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return { client, asked, verbs, url }
}

/** The last event of this type, over all runs. */
function recorded(verbs: Verbs, type: string): JsonObject[] {
  return verbs.runs().flatMap(({ run }) =>
    verbs
      .eventsOf(run as never)
      .filter((event) => event.type === type)
      .map(({ body }) => body as JsonObject),
  )
}

async function exercise({ client, asked }: Host): Promise<void> {
  assert.equal(client.getServerVersion()?.name, 'conformance-fixture')
  assert.match(client.getInstructions() ?? '', /fixture/)
  const { tools } = await client.listTools()
  assert(tools.some(({ name }) => name === 'test_simple_text'))
  assert.equal((await client.listResources()).resources.length, 3)
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 1)
  const { contents } = await client.readResource({ uri: 'test://template/7/data' })
  assert.match(JSON.stringify(contents), /Data for ID: 7/)
  await assert.rejects(client.readResource({ uri: 'test://none' }), (error: ProtocolError) => {
    assert.deepEqual([error.code, error.data], [-32602, { uri: 'test://none' }])
    return true
  })
  const { messages } = await client.getPrompt({
    name: 'test_prompt_with_arguments',
    arguments: { arg1: 'x', arg2: 'y' },
  })
  assert.match(JSON.stringify(messages), /arg1='x', arg2='y'/)
  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
    argument: { name: 'arg1', value: 'a' },
  })
  assert.deepEqual(completion.values, ['a-completed'])
  const mixed = await client.callTool({ name: 'test_multiple_content_types', arguments: {} })
  assert.deepEqual(
    mixed.content.map(({ type }) => type),
    ['text', 'image', 'resource'],
  )
  const failed = await client.callTool({ name: 'test_error_handling', arguments: {} })
  assert.deepEqual(
    [failed.isError, failed.content[0]],
    [true, { type: 'text', text: 'This tool intentionally returns an error for testing' }],
  )
  const notes: number[] = []
  await client.callTool(
    { name: 'test_tool_with_progress', arguments: {} },
    { onprogress: ({ progress }) => notes.push(progress) },
  )
  assert.deepEqual(notes.slice(0, 2), [0, 50])
  const all = await client.callTool({ name: 'test_input_required_result_multiple_inputs', arguments: {} })
  assert.match(JSON.stringify(all.content), /Ada.*Paris.*file:\/\/\/a/)
  assert.deepEqual(asked.sort(), ['What is your name?', 'roots', 'sampling'])
  const prompt = await client.getPrompt({ name: 'test_input_required_result_prompt' })
  assert.match(JSON.stringify(prompt.messages), /Ada/)
}

/** Our newer fixture tells of no change of a resource: in that era it is not asked to watch one. */
async function hearsChanges(client: Client, era: Era, server: Era): Promise<void> {
  const heard = new Set<string>()
  const methods = ['tools/list_changed', 'prompts/list_changed', 'resources/updated'] as const
  for (const name of methods) client.setNotificationHandler(`notifications/${name}`, () => void heard.add(name))
  const uri = 'test://watched-resource'
  const filter = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: [uri] }
  if (era === 'modern') await client.listen(filter)
  else await client.subscribeResource({ uri })
  await client.callTool({ name: 'test_trigger_tool_change', arguments: {} })
  await client.callTool({ name: 'test_trigger_prompt_change', arguments: {} })
  const wanted = server === 'legacy' ? methods : methods.slice(0, 2)
  for (let round = 0; round < 200 && heard.size < wanted.length; round++) await pause(20)
  assert.deepEqual([...heard].sort(), [...wanted].sort())
}

for (const era of eras) {
  for (const server of eras) {
    test(`a ${era} host has all of a ${server} server over HTTP, and every call is on the record`, async (t) => {
      const { client, asked, verbs } = await overHttp(t, era, server)
      await exercise({ client, asked })
      assert.equal(verbs.runs().length, 4)
      assert(verbs.runs().every(({ callCount }) => callCount === 1))
      const answers = recorded(verbs, 'call.resolved').map(({ answer }) => Object.keys(answer as object)[0])
      assert.deepEqual(new Set(answers), new Set(['result']))
      assert.equal((await verbs.ledger()).ok, true)
    })
  }

  test(`a ${era} host has all of a server over stdio`, async (t) => {
    const space = behind(t)
    const { client, asked } = host(era)
    t.after(() => client.close())
    const env = { PATH: process.env.PATH!, METIER_HOME: space.home, METIER_CONFIG: space.file }
    const args = ['serve', '--stdio', '--passthrough', era]
    await client.connect(new StdioClientTransport({ command: binary, args, env, stderr: 'ignore' }))
    await exercise({ client, asked })
    await hearsChanges(client, era, era)
  })

  test(`a ${era} host hears when lists and resources change`, async (t) => {
    const { client } = await overHttp(t, era, 'legacy')
    await hearsChanges(client, era, 'legacy')
  })

  test(`a ${era} host is asked by us too, where the policy wants it`, async (t) => {
    const ask = { policy: { permissions: 'privileged', rules: [{ tool: '*:test_simple_text', then: 'ask' }] } }
    const { client, asked, verbs } = await overHttp(t, era, 'modern', ask)
    const { content } = await client.callTool({ name: 'test_simple_text', arguments: {} })
    assert.match(JSON.stringify(content), /simple text response/)
    assert.equal(asked.length, 1)
    assert.equal(recorded(verbs, 'approval.answered')[0]?.answer, 'approved')
  })
}

test('an error of the protocol comes through as one, with its code and its data', async (t) => {
  const { client, verbs } = await overHttp(t, 'legacy', 'modern', {}, {})
  await assert.rejects(client.callTool({ name: 'test_missing_capability', arguments: {} }), (error: ProtocolError) => {
    assert.equal(error.code, -32021)
    assert.deepEqual((error.data as JsonObject).requiredCapabilities, { sampling: {} })
    return true
  })
  await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), { code: -32602 })
  assert.deepEqual(
    recorded(verbs, 'call.resolved').map(({ outcome, ok }) => [outcome, ok]),
    [
      ['refused', false],
      ['answered', false],
    ],
  )
})

test('a request in a trace is recorded with it, and the server gets the span of the call', async (t) => {
  const { client, verbs } = await overHttp(t, 'modern', 'modern')
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const { content } = await client.callTool({ name: 'echo_meta', arguments: {}, _meta: { traceparent, 'my/key': 1 } })
  assert.equal(recorded(verbs, 'run.started')[0]?.traceparent, traceparent)
  const sent = JSON.parse((content[0] as { text: string }).text)
  assert.equal(sent.traceparent, traceparent.replace('b7ad6b7169203331', spanIdOf(String(verbs.runs()[0]!.run), '1')))
  assert.equal(sent['my/key'], 1)
})

for (const server of eras) {
  test(`a call that the host cancels is cancelled in a ${server} server, and on the record`, async (t) => {
    const { client, verbs } = await overHttp(t, 'legacy', server)
    const count = async () =>
      JSON.stringify((await client.callTool({ name: 'count_cancelled', arguments: {} })).content)
    assert.match(await count(), /"0"/, 'the server runs')
    const stop = new AbortController()
    const waiting = client.callTool({ name: 'wait_until_cancelled', arguments: {} }, { signal: stop.signal })
    waiting.catch(() => {})
    while (recorded(verbs, 'call.sent').length < 2) await pause(10)
    await pause(100)
    stop.abort('enough')
    await assert.rejects(waiting)
    let seen = await count()
    for (let round = 0; round < 100 && !seen.includes('1'); round++) seen = await count()
    assert.match(seen, /"1"/)
    assert.equal(recorded(verbs, 'cancel.asked').length, 1)
    assert.equal(verbs.runs().at(-2)?.status, 'cancelled')
  })
}

for (const server of eras) {
  test(`a question of a ${server} server reaches the host whose request raised it, and no other`, async (t) => {
    const one = await overHttp(t, 'modern', server)
    const other = host('modern')
    t.after(() => other.client.close())
    await other.client.connect(new StreamableHTTPClientTransport(new URL(one.url)))
    const ask = ({ client }: Host, message: string) =>
      client.callTool({ name: 'test_elicitation', arguments: { message } })
    await Promise.all([ask(one, 'to one'), ask(other, 'to the other'), ask(one, 'to one'), ask(other, 'to the other')])
    assert.deepEqual([one.asked, other.asked], [Array(2).fill('to one'), Array(2).fill('to the other')])
  })
}

/** Requests of the modern era by hand: a host that does what no client of ours would. */
function byHand(url: string, name: string, capabilities: object = { elicitation: {} }, extra: object = {}) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  return async (more: object = {}, args: object = {}): Promise<Printed> => {
    const params = { name, arguments: args, _meta: meta, ...more }
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
      ...extra,
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const signal = AbortSignal.timeout(30_000)
    return (await (await fetch(url, { method: 'POST', headers, body, signal })).json()) as Printed
  }
}

test('the state of a question is good once, and only for the request that it was given to', async (t) => {
  const { url } = await overHttp(t, 'modern', 'modern')
  const call = byHand(url, 'test_input_required_result_elicitation')
  const first = await call()
  const { requestState } = first.result
  assert.equal(first.result.resultType, 'input_required')
  const inputResponses = { user_name: { action: 'accept', content: { name: 'Ada' } } }
  const wrong = await call({ requestState, inputResponses }, { other: 1 })
  assert.equal(wrong.error.code, -32602)
  const again = await call({ requestState, inputResponses: { user_name: 5 } })
  assert.equal(again.result.resultType, 'input_required', 'what is no answer is asked for again')
  assert.notEqual(again.result.requestState, requestState)
  const done = await call({ requestState: again.result.requestState, inputResponses })
  assert.match(JSON.stringify(done.result.content), /Hello, Ada!/)
  const twice = await call({ requestState: again.result.requestState, inputResponses })
  assert.equal(twice.error.code, -32602)
})

test('where every conversation waits for an answer, the one that has waited longest gives way', async (t) => {
  const { url } = await overHttp(t, 'modern', 'legacy')
  const call = byHand(url, 'test_elicitation')
  const asked = []
  for (let count = 0; count <= limits.passagesMax; count++) asked.push(await call({}, { message: `question ${count}` }))
  assert.deepEqual(new Set(asked.map(({ result }) => result.resultType)), new Set(['input_required']))
  const inputResponses = { 'question-1': { action: 'accept', content: { response: 'yes' } } }
  const answer = ({ result }: Printed, count: number) =>
    call({ requestState: result.requestState, inputResponses }, { message: `question ${count}` })
  assert.equal((await answer(asked[0]!, 0)).error.code, -32602, 'nobody waits for it any more')
  for (const count of [1, limits.passagesMax]) {
    assert.match(JSON.stringify((await answer(asked[count]!, count)).result.content), /yes/)
  }
})

test('questions that an older server asks together are asked together', async (t) => {
  const { url } = await overHttp(t, 'modern', 'legacy')
  const call = byHand(url, 'test_input_required_result_multiple_inputs', everything)
  for (let round = 0; round < 5; round++) {
    const { result } = await call()
    assert.equal(Object.keys(result.inputRequests).length, 3, JSON.stringify(result))
  }
})

test('a call whose headers say otherwise than its body is refused before it is a run; one that says the same passes', async (t) => {
  const { url, client, verbs } = await overHttp(t, 'modern', 'legacy', { expose: ['legacy:test_custom_header'] })
  const surface = url.replace('/mcp/legacy', '/mcp')
  for (const [at, name] of [
    [url, 'test_custom_header'],
    [surface, 'legacy__test_custom_header'],
  ] as const) {
    for (const extra of [{}, { 'mcp-param-region': 'us' }]) {
      const { id, error } = await byHand(at, name, {}, extra)({}, { region: 'eu' })
      assert.deepEqual([id, error.code], [1, -32020])
      assert.match(error.message, /Mcp-Param-Region/)
    }
    assert.equal((await byHand(at, name)()).result.isError, undefined, 'what is not said need not be repeated')
    const { result } = await byHand(at, name, {}, { 'mcp-param-region': 'eu' })({}, { region: 'eu' })
    assert.match(JSON.stringify(result.content), /region eu/)
  }
  assert.equal(verbs.runs().length, 4, 'what was refused is no run')
  await client.listTools()
  const { content } = await client.callTool({ name: 'test_custom_header', arguments: { region: 'naïve', count: 3 } })
  assert.match(JSON.stringify(content), /region naïve/, 'a client that knows of it passes by itself')
})

test('a server that cannot be reached is told as that, whatever is asked of it', async (t) => {
  const verbs = await openSpace(behind(t, { mcpServers: { gone: { command: '/nowhere/server' } } }))
  const gateway = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '1', log: () => {} })
  t.after(() => gateway.close())
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'host', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  for (const method of ['server/discover', 'tools/list', 'resources/list', 'initialize']) {
    const response = await fetch(`${gateway.url}/mcp/gone`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(method !== 'initialize' && { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method,
        params:
          method === 'initialize'
            ? { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'host', version: '1' } }
            : { _meta },
      }),
    })
    const text = await response.text()
    assert.match(JSON.parse(text).error?.message, /^Cannot reach the server "gone": .*not found/, `${method}: ${text}`)
  }
})
