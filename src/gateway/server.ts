/** One MCP server of either era: it lists the surface and hands calls to the verbs. */
import { Server } from '@modelcontextprotocol/server'
import { type Client, callTool } from './call.ts'
import type { Forms } from './elicit.ts'
import { exposedTools } from './exposed.ts'
import { onCall, type ProtocolEra } from './on-call.ts'
import { instructions, surfaceUnder } from './surface.ts'
import type { Verbs } from './verbs.ts'

/** A new instance for each session, each connection, and each request of the newer era. */
export function createMcpServer(verbs: Verbs, version: string, forms: Forms, era: ProtocolEra): Server {
  const server = new Server(
    { name: 'metier', title: 'Métier', version },
    { capabilities: { tools: {} }, instructions, requestState: { verify: forms.codec.verify } },
  )
  server.setRequestHandler('tools/list', async () => ({
    tools: [...surfaceUnder(verbs.permissions()), ...(await exposedTools(verbs))],
  }))
  onCall(server, era, (params, context) => callTool(verbs, params, context, clientOf(server), forms))
  return server
}

function clientOf(server: Server): Client {
  return { name: server.getClientVersion()?.name, capabilities: server.getClientCapabilities() }
}
