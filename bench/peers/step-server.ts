/** A step as an MCP server over stdio: the same counting, in a process of its own. */
import { createInterface } from 'node:readline'
import { payload } from './chain.ts'

const tool = { name: 'step', description: 'Count one further', inputSchema: { type: 'object' } }

function answer(method: string, params: { arguments?: { n?: number } } | undefined): object {
  if (method === 'tools/list') return { tools: [tool] }
  if (method === 'initialize') {
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'step', version: '1.0.0' },
    }
  }
  const value = { n: (params?.arguments?.n ?? 0) + 1, payload }
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params) })}\n`)
})
