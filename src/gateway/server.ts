/** One MCP server of either era: it lists the surface and hands calls to the verbs. */
import { Server } from '@modelcontextprotocol/server'
import { callTool } from './call.ts'
import { exposedTools } from './exposed.ts'
import { instructions, surface } from './surface.ts'
import type { Verbs } from './verbs.ts'

/** A new instance for each session, each connection, and each request of the newer era. */
export function createMcpServer(verbs: Verbs, version: string): Server {
  const server = new Server({ name: 'metier', title: 'Métier', version }, { capabilities: { tools: {} }, instructions })
  server.setRequestHandler('tools/list', async () => ({ tools: [...surface, ...(await exposedTools(verbs))] }))
  server.setRequestHandler('tools/call', ({ params }, context) =>
    callTool(verbs, params, context, server.getClientVersion()?.name),
  )
  return server
}
