/** The endpoints of MCP at their paths: /mcp is the surface, or one server whole; /mcp/NAME is the server of that name, whole. */
import type { Catalog } from '#catalog'
import { builtInServer } from '#model'
import type { Forms } from './elicit.ts'
import { exposedInput } from './exposed.ts'
import { type McpEndpoint, openMcpEndpoint } from './mcp.ts'
import type { ProtocolEra } from './on-call.ts'
import { type Passable, passthroughServers } from './passthrough-door.ts'
import type { Rate } from './rate.ts'
import { createMcpServer } from './server.ts'
import type { Verbs } from './verbs.ts'

type Options = {
  verbs: Verbs
  version: string
  log: (line: string) => void
  executes: Rate
  forms: Forms
  /** The servers that can be passed through; without it there is none. */
  catalog?: Passable & Pick<Catalog, 'digests'>
  /** The server that stands at /mcp in place of the surface. */
  passthrough?: string
}

export type Endpoints = { at(path: string): McpEndpoint | null } & Pick<McpEndpoint, 'answered' | 'close'>

/** An endpoint is opened when it is first asked for. */
export function openEndpoints({ verbs, version, log, executes, forms, catalog, passthrough }: Options): Endpoints {
  const open = new Map<string, McpEndpoint>()
  const newServer = (era: ProtocolEra) => createMcpServer(verbs, version, forms, era)
  const takes = (tool: string) => exposedInput(verbs, tool)
  const surface = { forSession: () => newServer('legacy'), forRequest: () => newServer('modern'), takes }
  const serversAt = (path: string) => {
    const name = nameIn(path, passthrough)
    if (name === null) return path === '/mcp' ? surface : null
    if (name === builtInServer || catalog === undefined || !Object.hasOwn(catalog.digests(), name)) return null
    return passthroughServers({ verbs, catalog, forms, name })
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
      await Promise.all([...open.values()].map((endpoint) => endpoint.close()))
    },
  }
}

function nameIn(path: string, passthrough: string | undefined): string | null {
  if (path === '/mcp') return passthrough ?? null
  try {
    return decodeURIComponent(/^\/mcp\/([^/]+)$/.exec(path)?.[1] ?? '') || null
  } catch {
    return null
  }
}
