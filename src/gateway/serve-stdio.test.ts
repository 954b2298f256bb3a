/** Both protocol eras over stdio, with a real process. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { ProtocolError } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { surface } from '#gateway/mcp'
import { binary, root, workspace } from '#test'
import { type Era, eras, initialize, newClient } from '#test/gateway'

const script = join(root, 'test', 'gateway', 'stand-in.ts')

async function connect(t: TestContext, era: Era) {
  const client = newClient(era)
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [script, '--stdio'], stderr: 'ignore' }),
  )
  t.after(() => client.close())
  return client
}

for (const era of Object.keys(eras) as Era[]) {
  test(`serveStdio() lists, calls and refuses as over HTTP, in the ${era} era`, async (t) => {
    const client = await connect(t, era)
    assert.equal(client.getProtocolEra(), era)
    const { tools } = await client.listTools()
    assert.deepEqual(JSON.parse(JSON.stringify(tools)), JSON.parse(JSON.stringify(surface)))
    const done = await client.callTool({ name: 'execute', arguments: { args: { a: 1 } } })
    assert.deepEqual((done.structuredContent as { result: unknown }).result, { a: 1 })
    assert.equal((await client.callTool({ name: 'result', arguments: { run: 'none' } })).isError, true)
  })

  test(`serveStdio() cancels a call that its client cancels, in the ${era} era`, async (t) => {
    const client = await connect(t, era)
    const cancel = new AbortController()
    const run = { name: 'execute', arguments: { key: 'k', args: { waitMs: 5000 } } }
    const call = client.callTool(run, { signal: cancel.signal })
    await new Promise((resolve) => setTimeout(resolve, 50))
    cancel.abort('not wanted')
    await assert.rejects(call)
    const again = await client.callTool(run)
    assert.equal((again.structuredContent as { status: string }).status, 'cancelled')
  })
}

test('serveStdio() writes nothing but protocol to stdout, survives garbage, and ends without cancelling when stdin does', async () => {
  const child = spawn(process.execPath, [script, '--stdio'])
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => (out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk) => (err += chunk))
  const params = { name: 'execute', arguments: { args: { waitMs: 60_000 } } }
  const messages = [
    'not json',
    '{"jsonrpc":"2.0"}',
    { jsonrpc: '2.0', ...initialize },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params },
    { jsonrpc: '2.0', id: 3, method: 'ping' },
    { jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'execute', arguments: { args: { a: '\u2028' } } } },
  ]
  for (const message of messages)
    child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
  while (out.split('\n').length <= 5) await once(child.stdout, 'data')
  child.stdin.end()
  const [code] = await once(child, 'close')
  const ids = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id)
  assert.deepEqual([code, ids], [0, [null, null, 1, 3, 4]])
  assert.equal(out.includes('\u2028'), false)
  assert.match(err, /"status":"running"/)
})

test('serve --stdio refuses what a host starts too often, says when it may again, and lets it look on', async (t) => {
  const { home, file } = workspace(t, { config: { http: { rate: { executes: 2 } } } })
  const env = { PATH: process.env.PATH!, METIER_HOME: home, METIER_CONFIG: file }
  const client = newClient('legacy')
  t.after(() => client.close())
  await client.connect(new StdioClientTransport({ command: binary, args: ['serve', '--stdio'], env, stderr: 'ignore' }))
  const code = { type: 'code', code: 'return 1' }
  const execute = () => client.callTool({ name: 'execute', arguments: { implementation: code } })
  for (let count = 0; count < 2; count++)
    assert.equal(((await execute()).structuredContent as { status: string }).status, 'done')
  await assert.rejects(execute(), (error: ProtocolError) => {
    assert.deepEqual(
      [error.code, typeof (error.data as { retryAfterSeconds: unknown }).retryAfterSeconds],
      [-32000, 'number'],
    )
    return /too many requests; try again in \d+ s/.test(error.message)
  })
  assert.equal((await client.callTool({ name: 'discover', arguments: { intent: 'x' } })).isError ?? false, false)
})
