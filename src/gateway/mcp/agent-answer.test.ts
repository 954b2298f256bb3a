/**
 * What an agent reads over MCP: large arguments in part, and of a run that has begun always its id.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { serveHttp } from '#gateway'
import { AppError, type JsonObject, limits, newId, type RunId } from '#model'
import { done, metier, openSpace, workspace } from '#test'
import { standIn } from '#test/gateway'
import type { Verbs } from '#verbs'
import { agentAnswer } from './agent-answer.ts'

async function clientOf(t: TestContext, verbs: Verbs) {
  const gateway = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '0', log: () => {} })
  t.after(() => gateway.close())
  const client = new Client({ name: 'host', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)))
  t.after(() => client.close())
  return async (name: string, args: Record<string, unknown>) => {
    const { structuredContent, content, isError } = await client.callTool({ name, arguments: args })
    const [{ text }] = content as unknown as [{ text: string }]
    return { answer: structuredContent as JsonObject, text, isError: isError === true }
  }
}

const asking = { config: { policy: { permissions: 'standard', rules: [] } } }
const code = (text: string) => ({ implementation: { type: 'code', code: text }, wait: 0 })

test('execute over MCP shows large arguments of an approval as a preview, and result pages the rest by its handle', async (t) => {
  const space = workspace(t, asking)
  const verbs = await openSpace(space)
  const call = await clientOf(t, verbs)
  const key = 'k'.repeat(100_000)
  const large = `mcp.fx.add({ key: 'k'.repeat(100_000), by: 1 })`
  const { answer, text } = await call('execute', {
    ...code(`return await Promise.all([mcp.fx.add({ key: 'small', by: 1 }), ${large}])`),
    wait: 20,
  })
  assert.equal(answer.status, 'approval_required', text.slice(0, 500))
  assert.ok(text.length < 2 * limits.inlineResultBytesMax, `${text.length} characters`)
  const [small, rest] = answer.approvals as [JsonObject, JsonObject]
  assert.deepEqual(small.args, { key: 'small', by: 1 })
  assert.deepEqual([rest.bytes, 'args' in rest, String(rest.preview).length], [100_017, false, 240])
  const { answer: page } = await call('result', { ...(rest.handle as object), path: '/key', limit: 200_000 })
  assert.equal(page.text, key)
  const { json } = await metier(space, ['approvals', '--json'])
  assert.deepEqual(json[1].args, { key, by: 1 }, 'whole for who has to judge it')
  assert.deepEqual((verbs.answer(String(answer.run)).approvals as JsonObject[])[1]!.args, { key, by: 1 })
})

test('agentAnswer() bounds all arguments of an answer together, and those of calls in doubt too', () => {
  const item = (call: string) => ({ call, args: { text: 'x'.repeat(3000) } })
  const { approvals, calls } = agentAnswer({
    run: 'r',
    approvals: [item('1'), item('2'), item('3')],
    calls: [item('4')],
  })
  const shown = [...(approvals as JsonObject[]), ...(calls as JsonObject[])].map(({ args, handle }) =>
    args ? 'args' : handle,
  )
  assert.deepEqual(shown, ['args', 'args', { run: 'r', call: '3/args' }, { run: 'r', call: '4/args' }])
})

/** Breaks after the run has begun, each in another place. */
const breaks: Record<string, (run: RunId) => JsonObject> = {
  'no text can be made of the answer': (run) => ({
    status: 'done',
    run,
    get result(): never {
      throw new RangeError('Maximum call stack size exceeded')
    },
  }),
  'a bug stands behind the verb': () => {
    throw new TypeError('x is not iterable')
  },
  'an error may be repeated': () => {
    throw new AppError('STORE_FULL', 'Cannot write the record: the disk is full')
  },
  'an error has what JSON cannot say': () => {
    const context: JsonObject = {}
    context.self = context
    throw new AppError('UPSTREAM_UNREACHABLE', 'Cannot reach it', context)
  },
}

for (const [what, broken] of Object.entries(breaks)) {
  test(`/mcp names the run and says no retry where ${what}`, async (t) => {
    const run = newId<RunId>()
    const call = await clientOf(t, {
      ...standIn(),
      execute: async (_, { began }) => {
        began?.(run)
        return broken(run) as never
      },
    })
    const { answer, text, isError } = await call('execute', code('return 1'))
    const { fate } = answer.error as JsonObject
    assert.deepEqual([answer.run, fate, isError], [run, 'give_up', true], text)
    assert.deepEqual(JSON.parse(text), answer)
  })
}

test('/mcp says nothing of a run where none has begun', async (t) => {
  const call = await clientOf(t, await openSpace(workspace(t)))
  const none = newId<RunId>()
  for (const input of [{ resume: none }, { implementation: { type: 'code' } }]) {
    const { answer } = await call('execute', input)
    assert.deepEqual([answer.run, answer.status], [undefined, undefined])
    assert.equal((answer.error as JsonObject).fate, 'correct')
  }
})

test('an exposed tool whose call fails in a run says which run it was', async (t) => {
  const space = workspace(t, {
    config: { expose: ['fx:add', 'fx:wait'], policy: { rules: [{ tool: 'fx:add', then: 'deny' }] } },
  })
  const verbs = await openSpace(space)
  const call = await clientOf(t, verbs)
  const { text, isError } = await call('fx__add', { key: 'a', by: 1 })
  const [{ run }] = verbs.runs() as [{ run: string }]
  assert.ok(isError && text.includes(run), text)
  assert.equal(done(space, 'add').length, 0)
})

test('execute answers no status but those of the interface: an interrupted run is running', async (t) => {
  const space = workspace(t)
  const leaving = await openSpace(space)
  const { run } = await leaving.execute(code(`await sleep(600000)`), { actor: { kind: 'cli', name: 'test' } })
  await leaving.close()
  const verbs = await openSpace(space)
  const answer = verbs.answer(String(run))
  assert.deepEqual([answer.status, answer.interrupted], ['running', true])
  assert.ok(Array.isArray(answer.inFlight))
  const [{ status }] = verbs.runs() as [JsonObject]
  assert.equal(status, 'interrupted', 'a list of runs says so')
})
