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
    { capabilities: { tools: { listChanged: true } }, instructions, requestState: { verify: forms.verify } },
  )
  server.setRequestHandler('tools/list', async () => ({
    tools: [...surfaceUnder(verbs.permissions()), ...(await exposedTools(verbs))],
  }))
  handleToolsCall(server, era, (params, context) => callSurfaceTool(verbs, params, context, clientOf(server), forms))
  return server
}

/**
 * Tells the client of a session or a connection when other tools are exposed; one of the legacy era
 * as soon as it has said that it is ready.
 */
export function tellOfExposed(server: Server, era: ProtocolEra, verbs: Pick<Verbs, 'onExposedChange'>): Server {
  let leave = () => {}
  const listen = () => {
    leave()
    leave = verbs.onExposedChange(() => void server.sendToolListChanged().catch(() => {}))
  }
  server.onclose = () => leave()
  if (era === 'legacy') server.oninitialized = listen
  else listen()
  return server
}

function clientOf(server: Server): LegacyClient {
  return { name: server.getClientVersion()?.name, capabilities: server.getClientCapabilities() }
}
