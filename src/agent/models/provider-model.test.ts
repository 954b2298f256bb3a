/** The drivers against a provider on loopback: every protocol, streamed or not, every failure. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { openModel } from '#agent/models'
import { parseConfig } from '#model'
import { freePort, providerStub, type Reply, temporaryFolder } from '#test'
import { missing } from './load-provider.ts'
import { type Message, ModelError, type ModelRequest } from './model.ts'

const key = 'sk-very/secret+key-0123456789'
const user: Message[] = [{ role: 'user', text: 'hello' }]

async function open(t: TestContext, provider: string, replies: Reply[] | ((n: number) => Reply)) {
  const directory = temporaryFolder(t)
  const reply = Array.isArray(replies) ? (n: number) => replies[n]! : replies
  const stub = await providerStub(t, join(directory, 'requests.jsonl'), reply)
  const settings = { apiKey: key, baseUrl: stub.url, prices: { input: 3, output: 15 } }
  const text = JSON.stringify({ providers: { [provider]: settings } })
  const config = parseConfig({ file: null, text, home: '/h', env: {}, directory })
  const model = await openModel(`${provider}:stub-model`, config, { directory, now: () => 0 })
  const ask = (isStreamed: boolean, rest: Partial<ModelRequest> = {}) => {
    const heard: string[] = []
    const onText = isStreamed ? { onText: (piece: string) => void heard.push(piece) } : {}
    const signal = new AbortController().signal
    const answer = model.complete({ system: 'be brief', messages: user, maxTokens: 50, signal, ...onText, ...rest })
    return answer.then((said) => ({ ...said, heard }))
  }
  const fail = async (isStreamed: boolean) => {
    const error = await ask(isStreamed).then(
      (said) => assert.fail(JSON.stringify(said)),
      (thrown) => thrown,
    )
    assert(error instanceof ModelError, String(error))
    return error
  }
  return { stub, ask, fail }
}

for (const provider of ['anthropic', 'openai', 'compatible'])
  for (const isStreamed of [false, true]) {
    const title = `${provider}${isStreamed ? ', streamed' : ''}`

    test(`complete() gives text, usage and cost: ${title}`, async (t) => {
      const { stub, ask } = await open(t, provider, [{ text: 'good day' }])
      const { text, stop, toolCalls, usage, heard } = await ask(isStreamed)
      assert.deepEqual([text, stop, toolCalls], ['good day', 'end', []])
      assert.deepEqual(usage, { inputTokens: 100, outputTokens: 20, costUsd: 0.0006 })
      assert.deepEqual(heard, isStreamed ? ['good', ' day'] : [])
      const [{ body, headers }] = stub.requests() as [ReturnType<typeof stub.requests>[0]]
      assert.equal(body.model, 'stub-model')
      assert.equal(body.max_tokens ?? body.max_output_tokens, 50)
      assert.match(JSON.stringify(body), /be brief.*hello|hello.*be brief/)
      assert.ok(headers['x-api-key'] === key || headers.authorization === `Bearer ${key}`)
    })

    test(`complete() gives the raw answer without what a terminal heard: ${title}`, async (t) => {
      const { ask } = await open(t, provider, [{ text: 'good day' }])
      const { raw } = await ask(isStreamed)
      assert.match(JSON.stringify(raw), /good day/)
      assert.match(JSON.stringify(raw), /stub-model/)
    })

    test(`complete() carries tools there and back: ${title}`, async (t) => {
      const { stub, ask } = await open(t, provider, [
        { text: 'I look', tool: { name: 'discover', input: { query: 'x' } } },
        { text: 'done' },
      ])
      const tools = [
        {
          name: 'discover',
          description: 'Finds',
          input: { type: 'object', properties: { query: { type: 'string' } } },
        },
      ]
      const { toolCalls, stop, text } = await ask(isStreamed, { tools })
      assert.deepEqual([stop, text], ['tool_calls', 'I look'])
      assert.deepEqual(
        toolCalls.map(({ name, args }) => ({ name, args })),
        [{ name: 'discover', args: { query: 'x' } }],
      )
      const messages: Message[] = [
        ...user,
        { role: 'assistant', text, toolCalls },
        { role: 'tool', text: 'found 3', toolCallId: toolCalls[0]!.id },
      ]
      assert.equal((await ask(isStreamed, { tools, messages })).stop, 'end')
      const sent = JSON.stringify(stub.requests()[1]!.body)
      assert.match(sent, /found 3/)
      assert.equal(sent.split(toolCalls[0]!.id).length, 3, 'call and result have one id')
    })

    test(`complete() says refusal, max_tokens and a full window by their names: ${title}`, async (t) => {
      const long = {
        error: {
          type: 'invalid_request_error',
          code: 'context_length_exceeded',
          message: 'prompt is too long: 9 tokens > 8',
        },
      }
      const { ask } = await open(t, provider, [
        { refusal: 'I will not' },
        { text: 'and so', stop: 'max_tokens' },
        { status: 400, body: long },
      ])
      const refusal = await ask(isStreamed)
      assert.deepEqual([refusal.stop, refusal.text], ['refusal', 'I will not'])
      const cut = await ask(isStreamed)
      assert.deepEqual([cut.stop, cut.text], ['max_tokens', 'and so'])
      assert.equal((await ask(isStreamed)).stop, 'context_overflow')
    })

    test(`complete() sends once, and says of 429 and 5xx that nothing was done: ${title}`, async (t) => {
      const date = new Date(5000).toUTCString()
      const replies = [
        { status: 429, headers: { 'retry-after': '7' } },
        { status: 429, headers: { 'retry-after-ms': '1500' } },
        { status: 503, headers: { 'retry-after': date } },
        { status: 529 },
        { status: 500 },
      ]
      const { stub, fail } = await open(t, provider, replies)
      for (const [index, ms] of [7000, 1500, 5000, 0, 0].entries()) {
        const { outcome, code, retryAfterMs, fate, context } = await fail(isStreamed)
        assert.deepEqual([outcome, code, retryAfterMs, fate], ['not_sent', 'UPSTREAM_UNREACHABLE', ms, 'retry'])
        assert.equal(context.status, replies[index]!.status)
      }
      assert.equal(stub.requests().length, replies.length)
    })

    test(`complete() refuses for good what will not work again: ${title}`, async (t) => {
      const quota = { error: { code: 'insufficient_quota', message: 'pay first' } }
      const replies = [{ status: 401 }, { status: 403 }, { status: 404 }, { status: 400 }, { status: 429, body: quota }]
      const { fail } = await open(t, provider, replies)
      const codes = ['PERMISSION_DENIED', 'PERMISSION_DENIED', 'INVALID_INPUT_PARAM', 'TOOL_ERROR', 'PERMISSION_DENIED']
      for (const expected of codes) {
        const { outcome, code } = await fail(isStreamed)
        assert.deepEqual([outcome, code], ['answered', expected])
      }
    })

    test(`complete() does not know what came of a cut connection or an unreadable answer: ${title}`, async (t) => {
      const replies: Reply[] = [{ cut: 'before' }, { cut: 'middle' }, { malformed: '{"id": oops' }, { malformed: '{}' }]
      const { stub, fail } = await open(t, provider, replies)
      for (const reply of replies) assert.equal((await fail(isStreamed)).outcome, 'unknown', JSON.stringify(reply))
      assert.equal(stub.requests().length, replies.length)
    })

    test(`complete() can be cancelled: ${title}`, async (t) => {
      const { ask } = await open(t, provider, [{ silent: true }])
      const signal = AbortSignal.timeout(100)
      await assert.rejects(ask(isStreamed, { signal }), { code: 'CANCELLED', outcome: 'unknown' })
    })

    test(`complete() lets no key into an error: ${title}`, async (t) => {
      const forms = [key, encodeURIComponent(key), Buffer.from(key).toString('base64')].join(' and ')
      const said = { error: { message: `wrong key ${forms}`, code: forms, type: forms } }
      const statuses = [401, 403, 404, 400, 429, 500]
      const { fail } = await open(t, provider, [
        ...statuses.map((status) => ({ status, body: said })),
        { status: 401, body: forms },
        { malformed: `{ ${forms}` },
      ])
      for (let n = 0; n < statuses.length + 2; n++) {
        const error = await fail(isStreamed)
        const all = `${error} ${error.stack} ${JSON.stringify(error)}`
        for (const form of forms.split(' and ')) assert.ok(!all.includes(form.replace(/=+$/, '')), all)
      }
    })

    test(`complete() refuses an endless answer: ${title}`, async (t) => {
      const { fail } = await open(t, provider, [{ text: 'x'.repeat(17 * 1024 * 1024) }])
      assert.equal((await fail(isStreamed)).code, 'RESULT_TOO_LARGE')
    })
  }

for (const provider of ['anthropic', 'openai', 'compatible'])
  test(`complete() takes an error inside of a stream for what it says: ${provider}`, async (t) => {
    const { fail } = await open(t, provider, [
      { streamError: 'overloaded_error' },
      { streamError: 'rate_limit_error' },
      { streamError: 'odd' },
    ])
    const outcomes = [await fail(true), await fail(true), await fail(true)].map(({ outcome }) => outcome)
    assert.deepEqual(outcomes, ['not_sent', 'not_sent', 'unknown'])
  })

test('complete() was surely not sent where nobody listens', async (t) => {
  const directory = temporaryFolder(t)
  const config = parseConfig({ file: null, text: null, home: '/h', env: {}, directory })
  const model = await openModel(`compatible:m@http://127.0.0.1:${await freePort()}`, config, { directory })
  const { signal } = new AbortController()
  await assert.rejects(model.complete({ system: '', messages: user, maxTokens: 5, signal }), {
    outcome: 'not_sent',
    code: 'UPSTREAM_UNREACHABLE',
  })
})

test('complete() follows no redirect with a key', async (t) => {
  const { stub, fail } = await open(t, 'anthropic', [{ status: 307, headers: { location: '/elsewhere' } }])
  assert.equal((await fail(false)).code, 'UPSTREAM_UNREACHABLE')
  assert.equal(stub.requests().length, 1)
})

test('openModel() says how to get a key, and how to add a missing package', async (t) => {
  const directory = temporaryFolder(t)
  const config = parseConfig({ file: null, text: null, home: '/h', env: {}, directory })
  await assert.rejects(openModel('anthropic:x', config, { directory }), {
    code: 'PERMISSION_DENIED',
    message: /ANTHROPIC_API_KEY/,
  })
  const absent = Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' })
  assert.match(String(missing('openai', absent)), /npm install @ai-sdk\/openai@\d/)
})
