/** One server whole, as a host wants it: what it says of itself, and conversations with it. */
import { type Catalog, passableCapabilities } from '#catalog'
import { builtInServer, type JsonObject } from '#model'

export type PassthroughVerbs = Pick<Catalog, 'serverInfo' | 'passage' | 'listForAgents'> & {
  /** Whether there is such a server to pass through: the built-in one speaks no MCP. */
  has(server: string): boolean
  /** Of what a client can do, what a server may be told of. */
  passableCapabilities: typeof passableCapabilities
  /** The schema of a tool's arguments as agents are told of it. */
  inputSchema(server: string, tool: string): Promise<JsonObject | undefined>
}

export function openPassthroughVerbs(catalog: Catalog): PassthroughVerbs {
  return {
    has: (server) => server !== builtInServer && Object.hasOwn(catalog.digests(), server),
    passableCapabilities,
    serverInfo: (server) => catalog.serverInfo(server),
    passage: (server, options) => catalog.passage(server, options),
    listForAgents: (server, listed) => catalog.listForAgents(server, listed),
    inputSchema: async (server, name) => {
      const tool = await catalog.tool(`${server}:${name}`)
      return tool === undefined ? undefined : catalog.forAgents(tool).input
    },
  }
}
