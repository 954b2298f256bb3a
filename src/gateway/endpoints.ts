/**
 * The endpoints of MCP at their paths: /mcp is the surface, or one server whole; /mcp/NAME is the
 * server of that name, whole.
 */
import { InMemoryServerEventBus } from '@modelcontextprotocol/server'
import type { Forms } from '#gateway/elicitation'
import type { RateLimit } from '#gateway/http'
import {
  createSurfaceServer,
  exposedInputSchema,
  type McpEndpoint,
  type McpServers,
  openMcpEndpoint,
  type ProtocolEra,
  tellOfExposed,
} from '#gateway/mcp'
import { passthroughServers } from '#gateway/passthrough'
import type { Verbs } from '#verbs'

type EndpointsOptions = {
  verbs: Verbs
  version: string
  log: (line: string) => void
  executes: RateLimit
  forms: Forms
  /** The server that stands at /mcp in place of the surface. */
  passthrough?: string
}

export type Endpoints = { at(path: string): McpEndpoint | null } & Pick<McpEndpoint, 'answered' | 'close'>

/** An endpoint is opened when it is first asked for. */
export function openEndpoints({ verbs, version, log, executes, forms, passthrough }: EndpointsOptions): Endpoints {
  const open = new Map<string, McpEndpoint>()
  const newServer = (era: ProtocolEra) => createSurfaceServer(verbs, version, forms, era)
  const bus = new InMemoryServerEventBus()
  const leave = verbs.onExposedChange(() => bus.publish({ kind: 'tools_list_changed' }))
  const surface: McpServers = {
    forSession: () => tellOfExposed(newServer('legacy'), 'legacy', verbs),
    forRequest: () => newServer('modern'),
    inputSchema: (tool) => exposedInputSchema(verbs, tool),
    bus,
  }
  const serversAt = (path: string) => {
    const name = serverNameIn(path, passthrough)
    if (name === null) return path === '/mcp' ? surface : null
    return verbs.passthrough.has(name) ? passthroughServers({ verbs, forms, name }) : null
  }
  return {
    at(path) {
      const known = open.get(path)
      const servers = known === undefined ? serversAt(path) : null
      if (servers === null) return known ?? null
      const endpoint = openMcpEndpoint(servers, log, executes)
      open.set(path, endpoint)
      return endpoint
    },
    async answered(late) {
      await Promise.all([...open.values()].map((endpoint) => endpoint.answered(late)))
    },
    async close() {
      leave()
      await Promise.all([...open.values()].map((endpoint) => endpoint.close()))
    },
  }
}

function serverNameIn(path: string, passthrough: string | undefined): string | null {
  if (path === '/mcp') return passthrough ?? null
  try {
    return decodeURIComponent(/^\/mcp\/([^/]+)$/.exec(path)?.[1] ?? '') || null
  } catch {
    return null
  }
}
