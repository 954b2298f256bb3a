/**
 * Progress: of a run call by call, of an exposed tool as the tool tells it, and only for who asks.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Client } from '@modelcontextprotocol/client'
import { serveHttp } from '#gateway'
import { openSpace, root, workspace } from '#test'
import { connect, type Era, eras } from '#test/gateway'

async function host(t: TestContext, era: Era): Promise<Client> {
  const args = [join(root, 'test', 'servers', 'conformance.ts')]
  const mcpServers = { suite: { command: process.execPath, args, env: {} } }
  const config = { mcpServers, expose: ['suite:test_tool_with_progress'], policy: { permissions: 'privileged' } }
  const verbs = await openSpace(workspace(t, { config }))
  const gateway = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '0', log: () => {} })
  t.after(() => gateway.close())
  return connect(t, gateway, era)
}

for (const era of Object.keys(eras) as Era[]) {
  test(`execute tells of every call that was answered, in the ${era} era`, async (t) => {
    const client = await host(t, era)
    const code = 'for (let i = 0; i < 3; i++) { await mcp.suite.test_simple_text({}); await sleep(30) } return "done"'
    const notes: { progress: number; message?: string | undefined }[] = []
    const input = { name: 'execute', arguments: { implementation: { type: 'code', code } } }
    const answer = await client.callTool(input, { onprogress: (note) => notes.push(note) })
    assert.equal((answer.structuredContent as { status: string }).status, 'done', JSON.stringify(answer))
    const messages = notes.map(({ message }) => message)
    assert(messages.length >= 2)
    assert.deepEqual(new Set(messages), new Set(['suite:test_simple_text was answered']))
    assert.deepEqual(
      notes.map(({ progress }) => progress),
      notes.map((_, index) => index + 1),
    )
    await client.callTool(input)
  })

  test(`an exposed tool tells of its own progress, in the ${era} era`, async (t) => {
    const client = await host(t, era)
    const notes: number[] = []
    const input = { name: 'suite__test_tool_with_progress', arguments: {} }
    await client.callTool(input, { onprogress: ({ progress }) => notes.push(progress) })
    assert.deepEqual(notes.slice(0, 2), [0, 50])
  })
}
