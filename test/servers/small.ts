/**
 * An MCP server over stdio whose answers are made from what it is asked, out of very few values, so
 * that equal values say nothing about which of them went where. Equal questions have equal answers;
 * an answer takes its time, which depends on the question too.
 */
import { createInterface } from 'node:readline'
import { smallAnswer, smallDelay, smallTools } from './small-values.ts'

const tools = smallTools.map((name) => ({
  name,
  description: `${name} of a few values`,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
}))
const info = { capabilities: { tools: {} }, serverInfo: { name: 'small', version: '1' } }

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const say = (result: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
  if (method === 'initialize') say({ protocolVersion: params.protocolVersion, ...info })
  else if (method === 'tools/list') say({ tools })
  else if (method !== 'tools/call') say({})
  else {
    const value = smallAnswer(params.name, params.arguments)
    const content = [{ type: 'text', text: JSON.stringify(value) }]
    setTimeout(() => say({ content, structuredContent: value }), smallDelay(params.name, params.arguments))
  }
})
