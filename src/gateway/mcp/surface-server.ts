/** One MCP server of either era: it lists the surface and hands calls to the verbs. */
import { Server } from '@modelcontextprotocol/server'
import type { Forms } from '#gateway/elicitation'
import type { Verbs } from '#verbs'
import { exposedTools } from './exposed.ts'
import { handleToolsCall, type ProtocolEra } from './handle-tools-call.ts'
import { instructions, surfaceUnder } from './surface.ts'
import { callSurfaceTool, type LegacyClient } from './surface-call.ts'

/** A new instance for each session, each connection, and each request of the modern era. */
export function createSurfaceServer(verbs: Verbs, version: string, forms: Forms, era: ProtocolEra): Server {
  const server = new Server(
    { name: 'metier', title: 'Métier', version },
    { capabilities: { tools: {} }, instructions, requestState: { verify: forms.verify } },
  )
  server.setRequestHandler('tools/list', async () => ({
    tools: [...surfaceUnder(verbs.permissions()), ...(await exposedTools(verbs))],
  }))
  handleToolsCall(server, era, (params, context) => callSurfaceTool(verbs, params, context, clientOf(server), forms))
  return server
}

function clientOf(server: Server): LegacyClient {
  return { name: server.getClientVersion()?.name, capabilities: server.getClientCapabilities() }
}
