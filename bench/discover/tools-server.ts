/**
 * An MCP server over stdio that lists the tools of a file and does nothing: `node tools-server.ts
 * FILE`.
 */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const tools = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'tools', version: '0' },
    },
    'tools/list': { tools },
    ping: {},
  }
  const result = results[method]
  const error = { code: -32601, message: `There is no ${method}` }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }))
}
