/** Sessions with a provider on loopback: busy, cut off, refusing, and saying the key back. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { agentProject, lastAnswer, metier, openSpace, providerStub, type Reply, scriptAnswer, whyNot } from '#test'

const skip = whyNot('os')
const apiKey = 'sk-canary-0123456789abcdef'
const text = JSON.stringify(lastAnswer('end'))

async function session(
  t: TestContext,
  provider: 'anthropic' | 'openai',
  reply: (n: number) => Reply,
  more = {},
  config = {},
) {
  const space = agentProject(t, [])
  const stub = await providerStub(t, join(space.folder, 'asked.jsonl'), reply)
  const providers = { [provider]: { apiKey, baseUrl: stub.url, ...more } }
  writeFileSync(space.file, JSON.stringify({ mcpServers: {}, providers, ...config }))
  const words = ['agent', 'Ask', '--model', `${provider}:stub-model`, '--workspace', space.project, '--json']
  const ran = await metier(space, words)
  return { space, stub, ran, json: ran.json }
}

for (const provider of ['anthropic', 'openai'] as const) {
  test(`a busy provider is waited for, each try on the record; what was cut off is asked once more: ${provider}`, async (t) => {
    const replies: Reply[] = [{ status: 429, headers: { 'retry-after-ms': '300' } }, { cut: 'middle' }, { text }]
    const prices = { input: 10, output: 100 }
    const { space, stub, json, ran } = await session(t, provider, (n) => replies[n]!, { prices })
    assert.deepEqual([json?.status, stub.requests().length], ['done', 3], ran.stderr)
    assert.deepEqual(json.cost, 0.003)
    const verbs = await openSpace(space)
    const sent = verbs.eventsOf(json.session, { type: 'call.sent' })
    assert.deepEqual(
      sent.map(({ body }) => (body as { attempt: number }).attempt),
      [1, 2, 3],
    )
    assert.ok(Date.parse(sent[1]!.at) - Date.parse(sent[0]!.at) >= 300)
    await verbs.close()
    const shown = await metier(space, ['session', 'show', json.session])
    assert.match(shown.stdout, /call 1 was sent 3 times/)
  })
}

test('what a model costs, its tokens and its time end a session by the budget of its run', async (t) => {
  const prices = { input: 10, output: 100 }
  const again: Reply = { text: 'no JSON', tool: { name: 'discover', input: { intent: 'x' } } }
  // Each answer costs 0.003 dollars and 120 tokens.
  const costly = await session(t, 'openai', () => again, { prices }, { budget: { cost: 0.005 } })
  assert.deepEqual([costly.json?.error?.code, costly.json?.cost], ['BUDGET_EXCEEDED', 0.006], costly.ran.stderr)
  assert.match(costly.json.error.message, /0\.005 units of cost is used up/)
  const wordy = await session(t, 'openai', () => again, {}, { budget: { tokens: 200 } })
  assert.deepEqual([wordy.json?.error?.code, wordy.json?.steps], ['BUDGET_EXCEEDED', 2])
  assert.deepEqual(
    wordy.stub.requests().map(({ body }) => body.max_output_tokens),
    [200, 80],
  )
  const slow = await session(t, 'openai', () => ({ silent: true }), {}, { agent: { wallMs: 1500 } })
  assert.deepEqual([slow.json?.error?.code, slow.json?.steps, slow.ran.code], ['BUDGET_EXCEEDED', 1, 1])
  assert.match(slow.json.error.message, /its budget of 1500 ms is used up/)
})

test('an answer that does not fit is asked for again by a call of its own, which shows the error', async (t) => {
  const unfit = JSON.stringify({ thought_process: 1 })
  const { space, stub, json, ran } = await session(t, 'anthropic', (n) => ({ text: n === 0 ? unfit : text }))
  assert.deepEqual([json?.status, json?.steps, stub.requests().length], ['done', 2, 2], ran.stderr)
  const told = JSON.stringify(stub.requests()[1]!.body.messages.at(-1))
  assert.match(told, /Your answer was not used: \/thought_process must be a text/)
  const verbs = await openSpace(space)
  assert.deepEqual(
    verbs.eventsOf(json.session, { type: 'call.sent' }).map(({ body }) => (body as { call: string }).call),
    ['1', '2'],
  )
})

test('a provider that always cuts off is asked twice; one that refuses is told so, and cost is null without prices', async (t) => {
  const cut = await session(t, 'openai', () => ({ cut: 'before' }))
  assert.deepEqual([cut.json?.status, cut.stub.requests().length], ['failed', 2], cut.ran.stderr)
  const refused = await session(t, 'anthropic', () => ({ refusal: 'I will not' }))
  assert.deepEqual([refused.json.error.code, refused.json.error.context.stop], ['TOOL_ERROR', 'refusal'])
  assert.deepEqual([refused.json.cost, refused.stub.requests().length], [null, 1])
})

test('a key that a provider says back stands in no record, book, answer or error', async (t) => {
  const body = { error: { message: `the key ${apiKey} is not valid` } }
  const said = JSON.stringify({
    thought_process: apiKey,
    artifacts: [{ path: 'a.txt', content: apiKey }],
    final_result: apiKey,
  })
  for (const reply of [{ status: 401, body }, { text: said }] as Reply[]) {
    const { space, ran } = await session(t, 'openai', () => reply)
    assert.ok(ran.json !== null, ran.stderr)
    const shown = await metier(space, ['session', 'show', ran.json.session, '--json'])
    for (const printed of [ran.stdout, ran.stderr, shown.stdout]) assert.ok(!printed.includes(apiKey))
    assert.deepEqual([...filesWithKey(space.home), ...filesWithKey(space.project)], [])
  }
})

test("keys of AWS's own tools that a provider says stand in no record, book or answer", async (t) => {
  const keys = ['wJalrXUtnFEMI-of-a-profile', 'token-of-the-environment', 'token-of-the-configuration']
  const [inFile, inVariable, inConfig] = keys
  const said = JSON.stringify({ ...lastAnswer(keys.join(' ')), artifacts: [{ path: 'a.txt', content: keys.join() }] })
  const space = agentProject(t, [])
  const stub = await providerStub(t, join(space.folder, 'asked.jsonl'), () => ({ text: said }))
  const files = { AWS_SHARED_CREDENTIALS_FILE: join(space.folder, 'keys'), AWS_CONFIG_FILE: join(space.folder, 'aws') }
  writeFileSync(files.AWS_SHARED_CREDENTIALS_FILE, `[work]\naws_secret_access_key = ${inFile}\n`)
  writeFileSync(files.AWS_CONFIG_FILE, `[default]\naws_session_token=${inConfig}\n`)
  const words = ['agent', 'Ask', '--model', `compatible:stub@${stub.url}`, '--workspace', space.project, '--json']
  const { json, stdout, stderr } = await metier(space, words, { env: { ...files, AWS_SESSION_TOKEN: inVariable! } })
  assert.equal(json?.status, 'done', stderr)
  for (const key of keys) {
    assert.ok(!`${stdout}${stderr}`.includes(key), key)
    assert.deepEqual([...filesWithKey(space.home, key), ...filesWithKey(space.project, key)], [])
  }
})

test('a model may pass on the placeholder of a secret that it was shown; any other is broken up', {
  skip,
}, async (t) => {
  const space = agentProject(t, [])
  const token = 'tok-abcdefghij0123456789'
  writeFileSync(join(space.project, 'data.txt'), token)
  const other = `«secret:${'0'.repeat(32)}»`
  const last = (said: string) => ({ ...lastAnswer(said), artifacts: [{ path: 'out.txt', content: said }] })
  let shown = ''
  const stub = await providerStub(t, join(space.folder, 'asked.jsonl'), (_, { body }) => {
    const asked = JSON.stringify(body)
    assert.ok(!asked.includes(token), 'the provider is told the secret')
    shown = /«secret:[0-9a-f]{32}»/.exec(asked)?.[0] ?? ''
    const answer = shown === '' ? scriptAnswer('a.py', 'print(open("data.txt").read())') : last(`${shown} ${other}`)
    return { text: JSON.stringify(answer) }
  })
  writeFileSync(space.file, JSON.stringify({ mcpServers: {}, record: { secrets: ['tok-[a-z0-9]{20}'] } }))
  const words = ['agent', 'Ask', '--model', `compatible:stub@${stub.url}`, '--workspace', space.project, '--json']
  const { json, stderr } = await metier(space, words)
  const said = `${shown} ${other.replace('«', '« ')}`
  assert.deepEqual([json?.status, json?.result?.text], ['done', said], stderr)
  assert.equal(readFileSync(join(space.project, 'out.txt'), 'utf8'), said)
  rmSync(join(space.project, 'data.txt'))
  assert.deepEqual([...filesWithKey(space.home, token), ...filesWithKey(space.project, token)], [])
})

function filesWithKey(folder: string, key = apiKey): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name))
  return paths.filter((path) => readFileSync(path).includes(key))
}
