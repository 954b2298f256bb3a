/** The graph of what is known: what feeds what, what served in place of what, how each did. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { definitionView, openLearner } from '#learn'
import type { JsonObject } from '#model'
import type { Store } from '#record'
import { closeSample, openSample, schemaOf, startSample, teach } from '#test'

const code = (source: string) => ({ plan: { kind: 'code', source, digest: source } as const })
const text = (description: string) => ({ type: 'string', description })

async function pin(store: Store, tool: string, description: string, input: JsonObject, output?: JsonObject) {
  const fields = Object.entries({ description, input, ...(output === undefined ? {} : { output }) })
  const diff = fields.map(([name, after]) => ({ field: `/${name}`, after }))
  await store.appendHome('tool.pinned', { tool, digest: tool, diff })
}

const object = (properties: JsonObject, ...required: string[]): JsonObject => ({ type: 'object', properties, required })

async function seen(t: TestContext, fill: (store: Store) => Promise<unknown>) {
  const store = await openSample(t)
  await fill(store)
  const learner = openLearner({ store, enabled: true })
  await learner.catchUp()
  const { nodes, edges } = definitionView(learner.knowledge(), store)
  await learner.close()
  const between = (type: string, from: string, to: string) =>
    edges.find((edge) => edge.type === type && edge.from === from && edge.to === to)
  return { nodes, edges, between }
}

/** A file is read, its text parsed, and something sent somewhere. */
async function pinFiles(store: Store) {
  const content = { content: text('The text content of the file.') }
  await pin(store, 'fs:read', 'Read a file.', object({ path: text('The path of the file.') }, 'path'), object(content))
  const json = { json: text('The text content to parse as JSON.') }
  await pin(store, 'json:parse', 'Parse a text content.', object(json, 'json'))
  const post = { url: text('Where to.'), content: text('The text content to send.'), retries: { type: 'number' } }
  await pin(store, 'http:post', 'Send a text content.', object(post, 'url', 'content'))
  const tag = { content: text('The text content to tag.') }
  await pin(store, 'tags:add', 'Tag a text content.', object(tag))
}

const once = (...tools: string[]) => [...tools].map((tool) => ({ tool, args: {}, value: { ok: true } }))

test('definitionView() has provides edges with their coverage and fields, from schemas alone', async (t) => {
  const { between } = await seen(t, async (store) => {
    await pinFiles(store)
    for (const tool of ['fs:read', 'json:parse', 'http:post', 'tags:add']) await closeSample(store, once(tool))
  })
  const { confidence, weight, ...edge } = between('provides', 'fs:read', 'json:parse')!
  assert.deepEqual(edge, {
    from: 'fs:read',
    to: 'json:parse',
    type: 'provides',
    source: 'inferred',
    count: 0,
    coverage: 'strict',
    fields: [{ from: '/content', to: '/json', count: 0 }],
  })
  assert.ok(confidence >= 0.4 && confidence < 1 && weight === 0.7, String(confidence))
  assert.equal(between('provides', 'fs:read', 'http:post')?.coverage, 'partial')
  assert.equal(between('provides', 'fs:read', 'tags:add')?.coverage, 'optional')
  assert.equal(between('provides', 'json:parse', 'fs:read'), undefined)
})

test('definitionView() confirms what flowed and drops what never did', async (t) => {
  const source = `const file = await mcp.fs.read({ path: 'a' }); return mcp.json.parse({ json: file.content })`
  const { between } = await seen(t, async (store) => {
    await pinFiles(store)
    const calls = [
      { tool: 'fs:read', args: { path: 'a' }, value: { content: '[12345]' } },
      { tool: 'json:parse', args: { json: '[12345]' }, value: { rows: 1 } },
    ]
    for (let run = 0; run < 5; run++) await closeSample(store, calls, code(source))
    const apart = `await mcp.fs.read({ path: 'a' }); return mcp.http.post({ url: 'u', content: 'other' })`
    const beside = [calls[0]!, { tool: 'http:post', args: { url: 'u', content: 'other' }, value: { sent: 1 } }]
    for (let run = 0; run < 8; run++) await closeSample(store, beside, code(apart))
  })
  const confirmed = between('provides', 'fs:read', 'json:parse')!
  assert.deepEqual(
    [confirmed.source, confirmed.count, confirmed.fields],
    ['observed', 5, [{ from: '/content', to: '/json', count: 5 }]],
  )
  assert.ok(confirmed.confidence > 0.8, String(confirmed.confidence))
  assert.equal(between('provides', 'fs:read', 'http:post'), undefined)
  assert.equal(between('dependency', 'fs:read', 'json:parse')?.count, 5)
})

test('definitionView() reads what a tool without a schema gives from what it gave', async (t) => {
  const { between } = await seen(t, async (store) => {
    await pin(store, 'shop:find', 'Find a customer.', object({}))
    await pin(store, 'mail:send', 'Send a mail.', object({ email: text('The email of the customer.') }, 'email'))
    await closeSample(store, [{ tool: 'shop:find', args: {}, value: { rows: [{ email: 'a@b' }] } }])
    await closeSample(store, once('mail:send'))
  })
  const edge = between('provides', 'shop:find', 'mail:send')
  assert.deepEqual([edge?.coverage, edge?.fields], ['strict', [{ from: '/rows/*/email', to: '/email', count: 0 }]])
})

test('definitionView() links what served the same intent, also where it failed, and what contains it does not', async (t) => {
  const { edges } = await seen(t, async (store) => {
    const ask = (intent: string, tool: string, ok = true, subject?: string) => {
      const actor = { kind: 'mcp', name: 'host', ...(subject === undefined ? {} : { subject }) } as const
      const calls = [{ tool, args: {}, ...(ok ? { value: 1 } : { code: 'CALL_TIMEOUT' }) }]
      return closeSample(store, calls, { intent, actor }, ok ? 'done' : 'failed')
    }
    await ask('fetch page 12', 'web:get', false)
    await ask('fetch page 13', 'web:curl')
    await ask('weigh the sheep', 'farm:scale')
    await ask('weigh the sheep', 'farm:guess', true, 'bob')
    await teach(store, 'fetch_page', 'return mcp.web.curl({})', { tools: { 'web:curl': 'x' } })
    await ask('fetch page 14', 'cap:fetch_page@1')
  })
  const alternatives = edges.filter(({ type }) => type === 'alternative')
  assert.deepEqual(
    alternatives.map(({ from, to, weight, count }) => [from, to, weight, count]),
    [
      ['web:curl', 'web:get', 0.6, 1],
      ['cap:fetch_page@1', 'web:get', 0.6, 1],
    ],
  )
})

test('definitionView() says how each did, also pure operations, and knows nothing of how a session works', async (t) => {
  const { nodes } = await seen(t, async (store) => {
    for (const ok of [true, true, true, false]) {
      const chain = startSample(store, code('return (await mcp.a.list({})).filter(Boolean)'))
      const issue = (call: string, tool: string, isFine: boolean) => {
        chain.append('call.issued', { call, tool, args: {}, effect: 'read', effectFrom: 'default', definition: null })
        chain.append('call.sent', { call, attempt: 1 })
        const error = { code: 'CALL_TIMEOUT', message: 'no', context: {}, fate: 'retry' } as const
        const end = isFine ? { ok: true, value: 1 } : { ok: false, error }
        chain.append('call.resolved', { call, attempt: 1, outcome: 'answered', ...end, ms: 1, by: 'upstream' })
      }
      issue('1', 'a:list', ok)
      chain.append('code.traced', { operations: ['code:filter'] })
      issue('2', 'a:put', true)
      await chain.finish({ status: 'done', result: null, callCount: 2, ms: 5 })
    }
    await closeSample(store, [...once('model:small'), ...once('workspace:write'), ...once('a:put')])
  })
  const known = new Map(nodes.map(({ id, stats }) => [id, stats]))
  assert.deepEqual([...known.keys()], ['a:list', 'a:put'])
  assert.deepEqual(known.get('a:list'), {
    runs: 4,
    calls: 4,
    historicalSuccessRate: 0.75,
    cooccurrenceWithContext: 1,
    sequencePosition: 0,
  })
  assert.equal(known.get('a:put')?.cooccurrenceWithContext, 0.8)
})

test('definitionView() shows of which tools and operations a capability is made', async (t) => {
  const { nodes, edges } = await seen(t, async (store) => {
    const chain = startSample(store, code('return 1'))
    chain.append('call.issued', {
      call: '1',
      tool: 'a:list',
      args: {},
      effect: 'read',
      effectFrom: 'default',
      definition: null,
    })
    chain.append('call.sent', { call: '1', attempt: 1 })
    chain.append('call.resolved', {
      call: '1',
      attempt: 1,
      outcome: 'answered',
      ok: true,
      value: [],
      ms: 1,
      by: 'upstream',
    })
    chain.append('code.traced', { operations: ['code:filter', 'code:map'] })
    await chain.finish({ status: 'done', result: null, callCount: 1, ms: 5 })
    const learner = openLearner({ store, enabled: true })
    await learner.catchUp()
    const [shape] = learner.knowledge().shapes()
    await learner.close()
    await teach(store, 'list', 'return 1', {
      shape: shape!.digest,
      tools: { 'a:list': 'x' },
      parametersSchema: schemaOf({}),
    })
  })
  const contained = edges.filter(({ type }) => type === 'contains').map(({ from, to, weight }) => [from, to, weight])
  assert.deepEqual(contained, [
    ['cap:list@1', 'a:list', 0.8],
    ['cap:list@1', 'code:filter', 0.8],
    ['cap:list@1', 'code:map', 0.8],
  ])
  const filter = nodes.find(({ id }) => id === 'code:filter')!
  assert.deepEqual([filter.type, filter.stats?.sequencePosition], ['operation', 0.5])
})
