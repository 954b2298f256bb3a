/** Both protocol eras over HTTP, with the clients that hosts are built on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '#model'
import { connect, type Era, eras, initialize, openGateway, post, until } from '#test/gateway'
import { instructions, surface } from './surface.ts'

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

for (const era of Object.keys(eras) as Era[]) {
  test(`/mcp lists the surface as it is, to a client of the ${era} era`, async (t) => {
    const client = await connect(t, await openGateway(t), era)
    assert.equal(client.getProtocolEra(), era)
    assert.deepEqual(plain((await client.listTools()).tools), plain(surface))
    assert.equal(client.getInstructions(), instructions)
    assert.equal(client.getServerVersion()?.name, 'metier')
  })

  test(`/mcp answers a call with structure and the same as compact text, in the ${era} era`, async (t) => {
    const client = await connect(t, await openGateway(t), era)
    await client.listTools()
    const answer = await client.callTool({ name: 'discover', arguments: { intent: 'echo' } })
    assert.equal((answer.structuredContent as { status: string }).status, 'found')
    assert.deepEqual(answer.content, [{ type: 'text', text: JSON.stringify(answer.structuredContent) }])
    assert.equal(answer.isError, undefined)
  })

  test(`/mcp makes an AppError a tool error with code, context and fate, in the ${era} era`, async (t) => {
    const client = await connect(t, await openGateway(t), era)
    await client.listTools()
    const answer = await client.callTool({ name: 'discover', arguments: {} })
    const error = {
      code: 'MISSING_REQUIRED_PARAM',
      message: 'Cannot discover: say the intent',
      context: { param: 'intent' },
      fate: 'correct',
    }
    assert.equal(answer.isError, true)
    assert.deepEqual(answer.structuredContent, { error })
    assert.deepEqual(answer.content, [{ type: 'text', text: JSON.stringify({ error }) }])
    const bug = await client.callTool({ name: 'execute', arguments: { args: { throw: true } } })
    assert.equal((bug.structuredContent as { error: { code: string } }).error.code, 'TOOL_INTERNAL_ERROR')
  })

  test(`/mcp answers a failed run as an answer, not as an error, in the ${era} era`, async (t) => {
    const client = await connect(t, await openGateway(t), era)
    await client.listTools()
    const answer = await client.callTool({ name: 'execute', arguments: { args: { fail: true } } })
    assert.equal(answer.isError, undefined)
    assert.equal((answer.structuredContent as { status: string }).status, 'failed')
    for (const status of ['suggested', 'approval_required', 'uncertain', 'running', 'cancelled']) {
      const other = await client.callTool({ name: 'execute', arguments: { args: { answer: { status } } } })
      assert.equal((other.structuredContent as { status: string }).status, status)
    }
  })

  test(`/mcp tells the verbs who calls and by which key, in the ${era} era`, async (t) => {
    const gateway = await openGateway(t)
    const client = await connect(t, gateway, era)
    const _meta = { 'claudecode/toolUseId': 'toolu_1' }
    const first = await client.callTool({ name: 'execute', arguments: { args: { a: 1 } }, _meta })
    const again = await client.callTool({ name: 'execute', arguments: { args: { a: 1 } }, _meta })
    assert.deepEqual(again.structuredContent, first.structuredContent)
    const { actor, key, waitMs } = gateway.verbs.callers[0]!
    assert.deepEqual({ actor, waitMs }, { actor: { kind: 'mcp', name: 'tester' }, waitMs: limits.executeWaitMsDefault })
    assert.match(key!, /^toolu_1 [0-9a-f]{32}$/)
    const other = await client.callTool({ name: 'execute', arguments: { args: { a: 2 } }, _meta })
    assert.notDeepEqual(other.structuredContent, first.structuredContent, 'an id given again to another request')
    const tooLong = { 'claudecode/toolUseId': 'x'.repeat(limits.runKeyBytesMax + 1) }
    await client.callTool({ name: 'execute', arguments: {}, _meta: tooLong })
    assert.equal('key' in gateway.verbs.callers.at(-1)!, false)
  })

  test(`/mcp refuses a tool that is not there, in the ${era} era`, async (t) => {
    const client = await connect(t, await openGateway(t), era)
    await assert.rejects(client.callTool({ name: 'delete_all', arguments: {} }), /Cannot call "delete_all"/)
  })

  test(`/mcp lets a run go on when the connection is lost, in the ${era} era`, async (t) => {
    const gateway = await openGateway(t)
    const client = await connect(t, gateway, era)
    const call = client.callTool({ name: 'execute', arguments: { args: { waitMs: 300 } } })
    call.catch(() => {})
    await until(() => gateway.verbs.runs().length === 1)
    await client.close()
    await until(() => gateway.verbs.runs()[0]!.status !== 'running')
    assert.equal(gateway.verbs.runs()[0]!.status, 'done')
    assert.equal(gateway.verbs.callers[0]!.signal!.aborted, false)
  })
}

test('/mcp aborts the signal of a call that a client of the legacy era cancels', async (t) => {
  const gateway = await openGateway(t)
  const client = await connect(t, gateway, 'legacy')
  const cancel = new AbortController()
  const call = client.callTool({ name: 'execute', arguments: { args: { waitMs: 60_000 } } }, { signal: cancel.signal })
  await until(() => gateway.verbs.runs().length === 1)
  cancel.abort('not wanted')
  await assert.rejects(call)
  await until(() => gateway.verbs.runs()[0]!.status === 'cancelled')
  assert.equal((gateway.verbs.callers[0]!.signal!.reason as { code: string }).code, 'CANCELLED')
})

test('/mcp ends the stream of a request that a client of the legacy era cancels, and its id is free again', async (t) => {
  const { url, verbs } = await openGateway(t)
  const { session } = await post(url, initialize)
  const execute = { name: 'execute', arguments: { args: { waitMs: 60_000 } } }
  const slow = post(url, { id: 7, method: 'tools/call', params: execute }, session!)
  await until(() => verbs.runs().length === 1)
  await post(url, { method: 'notifications/cancelled', params: { requestId: 7 } }, session!)
  assert.deepEqual([(await slow).status, (await slow).answer], [200, null])
  assert.equal(verbs.runs()[0]!.status, 'cancelled')
  assert.deepEqual((await post(url, { id: 7, method: 'ping' }, session!)).answer.result, {})
})

test('/mcp serves a plain client of the legacy era that knows nothing but fetch', async (t) => {
  const { url } = await openGateway(t)
  const hello = await post(url, initialize)
  assert.equal(hello.answer.result.protocolVersion, '2025-06-18')
  const session = hello.session!
  assert.equal((await post(url, { method: 'notifications/initialized' }, session)).status, 202)
  const { answer } = await post(url, { id: 2, method: 'tools/list', params: {} }, session)
  assert.deepEqual(answer.result.tools, plain(surface))
  const params = { name: 'execute', arguments: { args: { a: [1] } } }
  const called = await post(url, { id: 3, method: 'tools/call', params }, session)
  assert.deepEqual(called.answer.result.structuredContent.result, { a: [1] })
})

test('/mcp serves both eras at the same time', async (t) => {
  const gateway = await openGateway(t)
  const clients = await Promise.all(
    (['legacy', 'modern', 'legacy', 'modern'] as const).map((era) => connect(t, gateway, era)),
  )
  const call = (a: number) => ({ name: 'execute', arguments: { args: { a, waitMs: 20 } } })
  const answers = await Promise.all(clients.map((client, a) => client.callTool(call(a))))
  assert.deepEqual(
    answers.map(({ structuredContent }) => (structuredContent as { result: { a: number } }).result.a),
    [0, 1, 2, 3],
  )
})
