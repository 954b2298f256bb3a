/** Sessions with a provider on loopback: busy, cut off, refusing, and saying the key back. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { agentProject, lastAnswer, metier, openSpace, providerStub, type Reply } from '#test'

const apiKey = 'sk-canary-0123456789abcdef'
const text = JSON.stringify(lastAnswer('end'))

async function session(t: TestContext, provider: 'anthropic' | 'openai', reply: (n: number) => Reply, more = {}) {
  const space = agentProject(t, [])
  const stub = await providerStub(t, join(space.folder, 'asked.jsonl'), reply)
  const providers = { [provider]: { apiKey, baseUrl: stub.url, ...more } }
  writeFileSync(space.file, JSON.stringify({ mcpServers: {}, providers }))
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

function filesWithKey(folder: string, key = apiKey): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name))
  return paths.filter((path) => readFileSync(path).includes(key))
}
