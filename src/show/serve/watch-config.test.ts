/**
 * Tests of a gateway whose configuration file changes under it, as a person at the terminal sees
 * it.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { metier, root, serve, workspace } from '#test'

async function until(fact: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  for (let round = 0; round < 200; round++) {
    if (await fact()) return
    await pause(100)
  }
  assert.fail(what())
}

test('serve notices a server that was added, shows it, and has its tools; what is wrong is refused whole', async (t) => {
  const space = workspace(t)
  const { url, stderr, stop } = await serve(t, space)
  const servers = async () => {
    const tools = (await (await fetch(`${url}/api/tools`)).json()) as { id: string }[]
    return [...new Set(tools.map(({ id }) => id.split(':')[0]))]
      .filter((name) => name !== 'metier')
      .sort()
      .join()
  }
  assert.equal(await servers(), 'fx')

  const program = join(root, 'test', 'servers', 'effects.ts')
  const added = await metier(space, ['add', 'two', '--env', 'SECRET_TOKEN=abcdefghij', '--', process.execPath, program])
  assert.equal(added.code, 0, added.stderr)
  await until(async () => (await servers()) === 'fx,two', stderr)
  assert.match(stderr(), /metier\.json changed:\n {2}\+ server two\n/)

  const good = readFileSync(space.file, 'utf8')
  writeFileSync(space.file, good.replace('"two"', '"three"').replace('"policy"', '"polciy"'))
  await until(() => /is not applied/.test(stderr()), stderr)
  assert.match(stderr(), /stays in force\. Cannot read .*\/polciy: expected "policy"/)
  assert.equal(await servers(), 'fx,two', 'also what would have been right in it')

  assert.equal((await metier(space, ['remove', 'two'])).code, 3, 'nor is a file changed that cannot be read')
  writeFileSync(space.file, good)
  assert.equal((await metier(space, ['remove', 'two'])).code, 0)
  await until(async () => (await servers()) === 'fx', stderr)
  assert.match(stderr(), /\n {2}- server two\n/)
  assert.doesNotMatch(stderr(), /abcdefghij/)
  assert.equal(await stop(), 0)
})

test('serve asks with the expiry of a file in which nothing else has changed', async (t) => {
  const space = workspace(t, { config: { policy: { permissions: 'standard' } } })
  const { url, stderr } = await serve(t, space)
  const approvals = { expireMs: 24 * 60 * 60 * 1000 }
  writeFileSync(space.file, JSON.stringify({ ...JSON.parse(readFileSync(space.file, 'utf8')), approvals }))
  await until(() => / {2}~ approvals\n/.test(stderr()), stderr)
  const client = new Client({ name: 'host', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  t.after(() => client.close())
  const implementation = { type: 'code', code: `return mcp.fx.add({ key: 'k', by: 1 })` }
  const { structuredContent } = await client.callTool({ name: 'execute', arguments: { implementation } })
  const [{ expiresAt }] = (structuredContent as { approvals: [{ expiresAt: string }] }).approvals
  assert.ok(Date.parse(expiresAt) > Date.now() + approvals.expireMs / 2, expiresAt)
})
