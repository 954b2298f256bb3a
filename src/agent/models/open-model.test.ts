/** Models that answer from files, names of models, keys, and what can be reached. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { type Message, openModel, problemOfAnswer, reachable } from '#agent/models'
import { parseConfig, redactedSecret } from '#model'
import { freePort, providerStub, temporaryFolder } from '#test'
import { parseModelName } from './model-name.ts'

const { signal } = new AbortController()
const said = (count: number): Message[] =>
  Array.from({ length: 2 * count + 1 }, (_, n) => ({ role: n % 2 === 0 ? 'user' : 'assistant', text: `m${n}` }))
const request = (count = 0) => ({ system: 's', messages: said(count), maxTokens: 10, signal })
const configOf = (document: object = {}, env: Record<string, string> = {}) =>
  parseConfig({ file: null, text: JSON.stringify(document), home: '/h', env, directory: '/d' })

function scripted(t: TestContext, text: string) {
  const directory = temporaryFolder(t)
  writeFileSync(join(directory, 'script.json'), text)
  return openModel('scripted:script.json', configOf(), { directory })
}

test('scripted: gives the n-th answer to the n-th call, whatever was asked before', async (t) => {
  const list = [
    'plain',
    { a: 1 },
    { $tool: { name: 'discover', input: { q: 1 } } },
    { $delta: ['st', 'ream'] },
    { $stop: 'refusal', text: 'no' },
  ]
  for (const text of [JSON.stringify(list), list.map((item) => JSON.stringify(item)).join('\n')]) {
    const model = await scripted(t, text)
    const heard: string[] = []
    const { text: streamed } = await model.complete({ ...request(3), onText: (piece) => heard.push(piece) })
    assert.deepEqual([streamed, heard], ['stream', ['st', 'ream']])
    assert.equal((await model.complete(request(0))).text, 'plain')
    assert.deepEqual((await model.complete({ ...request(1), schema: {} })).json, { a: 1 })
    const { toolCalls, stop } = await model.complete(request(2))
    assert.deepEqual([toolCalls, stop], [[{ id: 'call_3_1', name: 'discover', args: { q: 1 } }], 'tool_calls'])
    const { usage, ...refusal } = await model.complete(request(4))
    assert.deepEqual([refusal.stop, refusal.text], ['refusal', 'no'])
    assert.ok(usage.inputTokens! > 0 && usage.outputTokens! > 0 && usage.costUsd === null)
    await assert.rejects(model.complete(request(5)), { code: 'TOOL_ERROR', outcome: 'answered' })
  }
})

test('scripted: fails before an answer as its list says, and does not count failures', async (t) => {
  const errors = [{ status: 429, retryAfterMs: 50 }, { status: 500 }, {}, { status: 401 }].map(($error) => ({ $error }))
  const model = await scripted(t, JSON.stringify(['one', ...errors, 'two']))
  assert.equal((await model.complete(request(0))).text, 'one')
  const tried = (attempt: number) => model.complete({ ...request(1), attempt })
  await assert.rejects(tried(1), { outcome: 'not_sent', retryAfterMs: 50 })
  await assert.rejects(tried(2), { outcome: 'not_sent', code: 'UPSTREAM_UNREACHABLE' })
  await assert.rejects(tried(3), { outcome: 'unknown', code: 'UPSTREAM_UNREACHABLE' })
  await assert.rejects(tried(4), { outcome: 'answered', code: 'PERMISSION_DENIED' })
  assert.equal((await tried(5)).text, 'two')
})

test('scripted: refuses a file that is not there, and one that is no JSON', async (t) => {
  await assert.rejects(scripted(t, '[oops'), { code: 'INVALID_INPUT_PARAM', message: /no JSON list/ })
  await assert.rejects(openModel('scripted:none', configOf(), { directory: '/nowhere' }), {
    code: 'INVALID_INPUT_PARAM',
    message: /ENOENT/,
  })
})

const wantsNumber = { type: 'object', required: ['a'], properties: { a: { type: 'number' } } }

test('complete() repairs an answer that does not fit its schema once, and shows the model the error', async (t) => {
  const directory = temporaryFolder(t)
  const texts = ['```json\n{"a": "one"}\n```', '<think>{"a": 2}</think>So: {"a": 1}', 'no JSON', '{}']
  const stub = await providerStub(t, join(directory, 'requests.jsonl'), (n) => ({ text: texts[n]! }))
  const model = await openModel(`compatible:m@${stub.url}`, configOf(), { directory })
  const ask = (maxTokens: number) => model.complete({ ...request(), maxTokens, schema: wantsNumber })
  const { json, text, usage, raw } = await ask(50)
  assert.deepEqual([json, text], [{ a: 1 }, texts[1]])
  assert.deepEqual(usage, { inputTokens: 200, outputTokens: 40, costUsd: null })
  assert.equal((raw as unknown[]).length, 2)
  const [, repair] = stub.requests()
  const [before, told] = repair!.body.messages.slice(-2)
  assert.deepEqual([before.role, before.content], ['assistant', texts[0]])
  assert.match(told.content, /not used: "a" must be number/)
  assert.equal(repair!.body.max_tokens, 30)
  const unfit = await ask(50)
  assert.deepEqual(['json' in unfit, unfit.text, stub.requests().length], [false, '{}', 4])
  await ask(20)
  assert.equal(stub.requests().length, 5, 'nothing is left for a repair')
})

test('cassette: ids and times that differ each time do not make another request of one', async (t) => {
  const directory = temporaryFolder(t)
  const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()]
  const told = (one: string, other: string, stamp: string) => {
    const text = `stored as artifacts/${one}/x and ${other}; artifacts/step_${stamp}_tool_request`
    return { ...request(), messages: [{ role: 'user' as const, text }] }
  }
  writeFileSync(join(directory, 'a.json'), '["one"]')
  const recording = await openModel('cassette:tape.jsonl=scripted:a.json', configOf(), { directory })
  const first = await recording.complete(told(a, b, '20261119_063659'))
  const replaying = await openModel('cassette:tape.jsonl', configOf(), { directory })
  assert.deepEqual(await replaying.complete(told(c, a, '20271231_235959')), first)
  await assert.rejects(replaying.complete(told(c, c, '20261119_063659')), { code: 'TOOL_ERROR' })
})

test('cassette: no key gets into the file, also where a provider says it', async (t) => {
  const directory = temporaryFolder(t)
  const apiKey = 'sk-"odd"-0123456789'
  writeFileSync(join(directory, 'a.json'), JSON.stringify([`your key is ${apiKey}`]))
  const config = configOf({ providers: { openai: { apiKey } } })
  const model = await openModel('cassette:tape.jsonl=scripted:a.json', config, { directory })
  await model.complete(request())
  const tape = readFileSync(join(directory, 'tape.jsonl'), 'utf8')
  assert.equal(JSON.parse(tape).answer.text, `your key is ${redactedSecret}`)
})

test('cassette: records what is missing, once, and replays it without the model', async (t) => {
  const directory = temporaryFolder(t)
  const file = join(directory, 'tape.jsonl')
  writeFileSync(join(directory, 'a.json'), '["one", "two"]')
  const recording = await openModel('cassette:tape.jsonl=scripted:a.json', configOf(), { directory })
  const first = await recording.complete({ ...request(0), maxTokens: 7 })
  await recording.complete(request(0))
  assert.equal(readFileSync(file, 'utf8').split('\n').length, 2)
  assert.equal(statSync(file).mode & 0o077, 0)
  appendFileSync(file, '{"digest": "cut o')
  const replaying = await openModel('cassette:tape.jsonl', configOf(), { directory })
  assert.deepEqual(await replaying.complete(request(0)), first)
  await assert.rejects(replaying.complete(request(1)), { code: 'TOOL_ERROR', message: /Record it/ })
  await assert.rejects(replaying.complete({ ...request(0), system: 'other' }), { code: 'TOOL_ERROR' })
})

test('cassette: the window is the same with a model behind it and without', async (t) => {
  const directory = temporaryFolder(t)
  const config = configOf({ providers: { openai: { apiKey: 'sk-0123456789', contextTokens: 8000 } } })
  writeFileSync(join(directory, 'tape.jsonl'), '')
  const windowOf = async (name: string) => (await openModel(name, config, { directory })).contextTokens
  assert.equal(await windowOf('openai:x'), 8000)
  assert.equal(await windowOf('cassette:tape.jsonl=openai:x'), await windowOf('cassette:tape.jsonl'))
})

test('parseModelName() reads every form, and names what is wrong', () => {
  const { providers } = configOf({ providers: { openai: { baseUrl: 'http://proxy/v1/' } } })
  const parsed = (name: string) => parseModelName(name, providers)
  assert.deepEqual(parsed('anthropic:c'), {
    driver: 'provider',
    provider: 'anthropic',
    name: 'c',
    url: 'https://api.anthropic.com/v1',
  })
  assert.deepEqual(parsed('openai:o'), { driver: 'provider', provider: 'openai', name: 'o', url: 'http://proxy/v1' })
  const local = { driver: 'provider', provider: 'compatible', name: 'llama:8b', url: 'http://localhost:11434/v1' }
  assert.deepEqual(parsed('compatible:llama:8b@http://localhost:11434'), local)
  assert.deepEqual(parsed('compatible:llama:8b@http://localhost:11434/v1/'), local)
  assert.deepEqual(parsed('cassette:a=b'), { driver: 'cassette', file: 'a=b', recorded: null })
  assert.deepEqual(parsed('cassette:a=openai:x'), { driver: 'cassette', file: 'a', recorded: 'openai:x' })
  for (const name of ['claude', 'other:x', 'anthropic:', 'compatible:x', 'compatible:x@http://u:hidden@h/'])
    assert.throws(
      () => parsed(name),
      (error: Error) => /Cannot use the model/.test(error.message) && !error.message.includes('hidden'),
      name,
    )
})

test('problemOfAnswer() names the place and what is expected there', () => {
  const schema = {
    type: 'object',
    required: ['a'],
    properties: {
      a: {
        type: 'array',
        items: { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: false },
      },
    },
  }
  assert.equal(problemOfAnswer(schema, { a: [{ b: 'x' }] }), null)
  assert.match(problemOfAnswer(schema, { a: [{}, { b: 1 }] })!, /"a\.1\.b" must be string/)
  assert.match(problemOfAnswer(schema, { a: [{ c: 1 }] })!, /"a\.0\.c" is not a parameter/)
  assert.equal(problemOfAnswer(schema, {}), '"a" is missing')
  assert.equal(problemOfAnswer(schema, []), 'the answer must be a JSON object')
})

test('keys join the known secrets from the file and from the usual variables', () => {
  const env = { ANTHROPIC_API_KEY: 'anthropic-key-1', MINE: 'my-own-key-22', OPENAI_API_KEY: 'openai-key-333' }
  const config = configOf({ providers: { openai: { apiKey: '${MINE}' }, compatible: { apiKey: '${UNSET}' } } }, env)
  const { anthropic, openai, compatible } = config.providers
  assert.deepEqual([anthropic.apiKey, openai.apiKey, compatible.apiKey], ['anthropic-key-1', 'my-own-key-22', null])
  for (const secret of ['anthropic-key-1', 'my-own-key-22', 'openai-key-333'])
    assert.ok(config.knownSecrets.includes(secret))
  assert.deepEqual(config.unsetVariables, ['UNSET'])
})

test('reachable() lists models of what answers, and spends nothing', async (t) => {
  const stub = await providerStub(t, join(temporaryFolder(t), 'requests.jsonl'), () => ({ status: 500 }))
  const apiKey = 'key-of-anthropic'
  const gone = `http://127.0.0.1:${await freePort()}/v1`
  const document = {
    providers: {
      anthropic: { apiKey, baseUrl: stub.url },
      openai: { apiKey: 'key-of-openai', baseUrl: gone },
      compatible: { apiKey: 'key-of-others' },
    },
    agent: { model: `compatible:m@${stub.url}` },
  }
  const local = `${stub.url.replace('/v1', '')}/local/v1`
  const reaches = await reachable(configOf(document), [local, gone.replace('/v1', '/v2')])
  const shown = reaches.map(({ provider, url, isConfigured, models }) => ({ provider, url, isConfigured, models }))
  const models = ['stub-model']
  assert.deepEqual(shown, [
    { provider: 'anthropic', url: stub.url, isConfigured: true, models },
    { provider: 'openai', url: gone, isConfigured: true, models: [] },
    { provider: 'compatible', url: local, isConfigured: false, models },
  ])
  assert.match(reaches[1]!.problem!, /cannot be reached: ECONNREFUSED/)
  assert.ok(stub.requests().every(({ path, body }) => path.endsWith('/models') && body === null))
  assert.deepEqual(
    stub
      .requests()
      .map(({ headers }) => headers['x-api-key'])
      .toSorted(),
    [apiKey, undefined],
  )
  assert.ok(stub.requests().every(({ headers }) => headers.authorization === undefined))
})
