/** A server that answers with more than a message may have. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { metier, workspace } from '#test'

const server = `
import { createInterface } from 'node:readline'
const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') send(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } })
  else if (method === 'tools/list') send(id, { tools: [{ name: 'dump', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } }] })
  else if (method === 'tools/call') for (let part = 0; part < 260; part++) process.stdout.write('x'.repeat(1024 * 1024))
})
`

test('call of a tool that answers with 260 MB says that the answer is too large, not that its command is wrong', async (t) => {
  const space = workspace(t)
  const file = join(space.folder, 'server.mjs')
  writeFileSync(file, server)
  const big = { command: process.execPath, args: [file] }
  const policy = { permissions: 'privileged' }
  writeFileSync(space.file, JSON.stringify({ mcpServers: { big }, policy }))
  const { json } = await metier(space, ['call', 'big:dump', '{}', '--json'])
  assert.deepEqual([json.status, json.error.code], ['failed', 'RESULT_TOO_LARGE'])
  assert.match(json.error.message, /sent a message of more than 268435456 bytes, and was ended; ask for less/)
})
