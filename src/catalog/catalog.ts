/**
 * The catalogue: what can be called, found and judged before it is called. In go the servers of the configuration; out come
 * tools, answers to discover, and the three outcomes of a try. It refuses nothing by policy: that is for the run.
 */
import {
  type AppError,
  type Json,
  limits,
  type ServerConfig,
  splitToolId,
  type Tool,
  type Try,
  toAppError,
} from '#model'
import { recall, remember } from './cache.ts'
import type { Connection, ToolDefinition } from './connect.ts'
import { serverDigest, toTool } from './definition.ts'
import { type Guard, openGuard } from './guard.ts'
import { buildIndex, type Found, type Index, type Query, search } from './search.ts'
import { type CallOptions, Upstream } from './upstream.ts'
import { problemOf } from './validate.ts'

export type { Found, Query } from './search.ts'
export { signatureOf } from './signature.ts'

export type CatalogOptions = {
  servers: Readonly<Record<string, ServerConfig>>
  /** Where what the servers said is kept between two lives of ours. */
  folder: string
  baseEnv: { PATH?: string; HOME?: string }
  /** Values to leave out of the digests. */
  secrets?: readonly string[]
  log?: (line: string) => void
}

export type ToolList = { tools: Tool[]; problems: { server: string; error: AppError }[] }

export type Catalog = {
  /** From what is remembered where that is of the same definition, else from the server itself; `refresh` always asks. */
  tools(options?: { server?: string; refresh?: boolean }): Promise<ToolList>
  tool(id: string): Promise<Tool | undefined>
  problemOf(tool: Tool, args: Json): AppError | null
  try(tool: Tool, args: Json, options: CallOptions): Promise<Try>
  /** What each server is, without what is secret. */
  digests(): Record<string, string>
  search(query: Query): Promise<Found>
  /** Ends every server. */
  close(): Promise<void>
}

/** One server as the catalogue knows it; `live` once it spoke for itself in this life of ours. */
type Entry = { name: string; digest: string; tools: Tool[] | null; live: boolean; upstream: Upstream }

export function openCatalog(options: CatalogOptions): Catalog {
  const guard = openGuard()
  let index: Index | null = null
  const changed = () => {
    index = null
  }
  const names = Object.keys(options.servers)
  const entries = new Map(names.map((name) => [name, openEntry(name, options, guard, changed)]))

  const tools: Catalog['tools'] = async ({ server, refresh = false } = {}) => {
    const asked =
      server === undefined ? [...entries.values()] : [entries.get(server)].filter((entry) => entry !== undefined)
    const listed = await Promise.all(asked.map((entry) => listOf(entry, refresh)))
    return { tools: listed.flatMap(({ tools }) => tools), problems: listed.flatMap(({ problems }) => problems) }
  }
  return {
    tools,
    async tool(id) {
      const { server, name } = splitToolId(id) ?? {}
      const entry = server === undefined ? undefined : entries.get(server)
      if (entry === undefined) return undefined
      const named = ({ tools }: ToolList) => tools.find((tool) => tool.name === name)
      return named(await listOf(entry, false)) ?? named(await listOf(entry, !entry.live))
    },
    problemOf,
    try: (tool, args, callOptions) => entries.get(tool.server)!.upstream.try(tool, args, callOptions),
    digests: () => Object.fromEntries([...entries.values()].map(({ name, digest }) => [name, digest])),
    async search(query) {
      const { tools: all } = await tools()
      index ??= buildIndex(all)
      return search(index, query)
    },
    async close() {
      await Promise.all([...entries.values()].map(({ upstream }) => upstream.close()))
      guard.close()
    },
  }
}

function openEntry(name: string, options: CatalogOptions, guard: Guard, changed: () => void): Entry {
  const { servers, folder, baseEnv, secrets = [], log } = options
  const config = servers[name]!
  const digest = serverDigest(config, secrets)
  const remembered = recall(folder, name, digest)
  const toolsOf = (definitions: ToolDefinition[]) =>
    definitions.slice(0, limits.catalogToolsMax).map((definition) => toTool(name, config, definition))
  let era = remembered?.era ?? null
  const opened = (connection: Connection) => {
    era = connection.era
    entry.tools = toolsOf(connection.definitions)
    entry.live = true
    changed()
    log?.(`${name}: ${entry.tools.length} tools, ${era.kind} protocol`)
    try {
      remember(folder, name, { definition: digest, at: Date.now(), era, tools: connection.definitions })
    } catch (error) {
      log?.(`${name}: cannot keep its tools for the next start: ${(error as Error).message}`)
    }
  }
  const upstream = new Upstream({ name, config, guard, baseEnv, era: () => era, opened })
  const entry: Entry = { name, digest, live: false, upstream, tools: remembered && toolsOf(remembered.tools) }
  return entry
}

async function listOf(entry: Entry, refresh: boolean): Promise<ToolList> {
  try {
    if (entry.tools === null || refresh) await entry.upstream.list()
    return { tools: entry.tools ?? [], problems: [] }
  } catch (error) {
    return { tools: entry.tools ?? [], problems: [{ server: entry.name, error: toAppError(error) }] }
  }
}
