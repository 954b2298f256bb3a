/**
 * The least that a durable gateway on this SDK can cost: it passes a call on, and syncs one page to
 * disk before and after.
 */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { type CallToolResult, Server } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { openJournal } from './journal.ts'

const [file, upstream] = process.argv.slice(2) as [string, string]
const commit = openJournal(file)
const client = new Client({ name: 'proxy', version: '1.0.0' })
const env = { PATH: process.env.PATH! }
await client.connect(new StdioClientTransport({ command: process.execPath, args: [upstream], env, stderr: 'ignore' }))
const server = new Server({ name: 'proxy', version: '1.0.0' }, { capabilities: { tools: {} } })
server.setRequestHandler('tools/list', () => client.listTools())
server.setRequestHandler('tools/call', async ({ params: { name, arguments: input = {} } }): Promise<CallToolResult> => {
  commit()
  const result = await client.callTool({ name, arguments: input })
  commit()
  return result
})
await server.connect(new StdioServerTransport())
