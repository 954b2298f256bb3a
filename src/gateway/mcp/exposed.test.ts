/** Exposed tools, from a host's client through the gateway to a real server and back. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { serveHttp } from '#gateway'
import { limits } from '#model'
import { openSpace, whyNot, workspace } from '#test'
import { surface } from './surface.ts'

test('/mcp lists exposed tools after the three, and a call of one is a run of one call with its own result', async (t) => {
  const expose = ['fx:big', 'fx:none', 'fx:add', 'fx:flaky', 'fx:big']
  const rules = [{ tool: 'fx:add', args: { '/key': 'denied' }, then: 'deny' }]
  const verbs = await openSpace(workspace(t, { config: { expose, policy: { permissions: 'privileged', rules } } }))
  const gateway = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '0', log: () => {} })
  t.after(() => gateway.close())
  const client = new Client({ name: 'host', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)))
  t.after(() => client.close())

  const { tools } = await client.listTools()
  const names = tools.map(({ name }) => name)
  assert.deepEqual(names, [...surface.map(({ name }) => name), 'fx__big', 'fx__add', 'fx__flaky'])
  assert.deepEqual(tools[4]!.inputSchema.required, ['key', 'by'])

  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args })
  const added = await call('fx__add', { key: 'k', by: 2 })
  assert.deepEqual(added, {
    ...added,
    content: [{ type: 'text', text: '{"key":"k","total":2}' }],
    structuredContent: { key: 'k', total: 2 },
  })
  const [{ intent, callCount, status }] = verbs.runs() as [{ intent: string; callCount: number; status: string }]
  assert.deepEqual([intent, callCount, status], ['call fx:add', 1, 'done'])

  const large = await call('fx__big', { bytes: 600_000 })
  assert.equal((large.structuredContent as { text: string }).text.length, 600_000)
  const failed = await call('fx__flaky', { key: 'k', failures: 1 })
  assert.deepEqual([failed.isError, failed.structuredContent], [true, undefined])
  assert.match(JSON.stringify(failed.content), /failed 1 of 1 times/)
  assert.match(JSON.stringify((await call('fx__add', { key: 'denied', by: 1 })).content), /denied/)
  assert.match(JSON.stringify((await call('fx__add', {})).content), /missing/)
  await assert.rejects(call('fx__read', { key: 'k' }), /there is no such tool here/)
})

test('/mcp shows a built-in tool that is exposed with all that is to be said of it; /mcp/metier is refused with a message', async (t) => {
  const tool = 'metier:execute_script_in_sandbox'
  const verbs = await openSpace(workspace(t, { config: { expose: [tool] } }))
  const gateway = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '0', log: () => {} })
  t.after(() => gateway.close())
  const client = new Client({ name: 'host', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)))
  t.after(() => client.close())
  const exposed = (await client.listTools()).tools.at(-1)!
  assert.equal(exposed.name, 'metier__execute_script_in_sandbox')
  assert.match(exposed.description!, /\nError codes .*\n(.*\n)*Idempotence: /)
  const args = { interpreter: 'ruby', scriptContent: 'x' }
  const refused = await client.callTool({ name: exposed.name, arguments: args })
  assert.match(JSON.stringify(refused), /use one of python, bash, go run/)
  const script = { interpreter: 'bash', scriptContent: 'echo hi', config: { tier: 'os' } }
  if (whyNot('os') === false) {
    const ran = await client.callTool({ name: exposed.name, arguments: script })
    assert.equal((ran.structuredContent as { stdout?: string }).stdout, 'hi\n', JSON.stringify(ran))
  }
  const alone = await fetch(`${gateway.url}/mcp/metier`, { method: 'POST', body: '{}' })
  assert.equal(alone.status, 404)
  assert.match(await alone.text(), /the tools of \\"metier\\" run in this process/)
})

test('/mcp does not wait for the server of an exposed tool that does not come up, neither to list nor to call another', async (t) => {
  const { mcpServers } = JSON.parse(readFileSync(workspace(t).file, 'utf8'))
  const hanging = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] }
  const policy = { permissions: 'privileged' }
  const config = { mcpServers: { ...mcpServers, hanging }, expose: ['hanging:up', 'fx:read'], policy }
  const verbs = await openSpace(workspace(t, { config }))
  const gateway = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '0', log: () => {} })
  t.after(() => gateway.close())
  const client = new Client({ name: 'host', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)))
  t.after(() => client.close())
  const start = performance.now()
  assert.deepEqual(
    (await client.listTools()).tools.map(({ name }) => name),
    ['discover', 'execute', 'result', 'fx__read'],
  )
  await client.callTool({ name: 'fx__read', arguments: { key: 'k' } })
  assert.ok(performance.now() - start < limits.upstreamStartMsMax / 2)
})
