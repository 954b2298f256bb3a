/**
 * An MCP server over stdio with one tool of the task graph, as it would be without a built-in
 * server: `node graph-server.ts FILE`.
 */
import { createInterface } from 'node:readline'
import { getTask, openGraphStore, openTaskGraph } from '#tasks'

const graph = openTaskGraph(await openGraphStore({ file: process.argv[2]! }))
const inputSchema = { type: 'object', properties: { taskID: { type: 'string' } }, required: ['taskID'] }
const tools = [{ name: 'get_task_details', description: 'A task.', inputSchema, annotations: { readOnlyHint: true } }]

async function call({ arguments: given }: { arguments: object }): Promise<object> {
  const value = await getTask(graph, given, { signal: new AbortController().signal })
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  const serverInfo = { name: 'graph', version: '0' }
  const results: Record<string, () => object | Promise<object>> = {
    initialize: () => ({ protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo }),
    'tools/list': () => ({ tools }),
    'tools/call': () => call(params),
    ping: () => ({}),
  }
  const result = await results[method]?.()
  const error = { code: -32601, message: `There is no ${method}` }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }))
}
