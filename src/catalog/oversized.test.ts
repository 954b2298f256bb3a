/** A server that answers with more than a message may have. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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

test('call of a tool behind an address that answers with 260 MB says that the answer is too large, not that it is unreachable', async (t) => {
  const chunk = Buffer.alloc(1024 * 1024, 'x')
  const listener = createServer(async (request, response) => {
    const text = await Array.fromAsync(request).then((chunks) => Buffer.concat(chunks).toString())
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method, params } = JSON.parse(text)
    const known = ['initialize', 'tools/list', 'tools/call'].includes(method)
    const type = params?.name === 'stream' ? 'text/event-stream' : 'application/json'
    response.writeHead(known ? 200 : id === undefined ? 202 : 400, { 'content-type': type })
    const send = (result: object) => response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    if (method === 'initialize')
      return send({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      })
    const tool = (name: string) => ({ name, annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } })
    if (method === 'tools/list') return send({ tools: [tool('dump'), tool('stream')] })
    if (!known) return void response.end()
    for (let part = 0; part < 260 && !response.destroyed; part++)
      if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
    response.end()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => listener.once('listening', resolve))
  t.after(() => {
    listener.close()
    listener.closeAllConnections()
  })
  const space = workspace(t)
  const big = { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp` }
  writeFileSync(space.file, JSON.stringify({ mcpServers: { big }, policy: { permissions: 'privileged' } }))
  for (const name of ['dump', 'stream']) {
    const { json } = await metier(space, ['call', `big:${name}`, '{}', '--json'])
    assert.deepEqual([json.status, json.error?.code], ['failed', 'RESULT_TOO_LARGE'], JSON.stringify(json.error))
    assert.match(json.error.message, /sent a message of more than 268435456 bytes, which was not read; ask for less/)
  }
})
