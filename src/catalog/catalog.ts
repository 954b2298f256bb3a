/**
 * The catalogue: what can be called, found and judged before it is called. In go the servers of the configuration; out come
 * tools, answers to discover, and the three outcomes of a try. It refuses nothing by policy: that is for the run.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, type Json, limits, type ServerConfig, splitToolId, type Tool, type Try, toAppError } from '#model'
import { recall, remember } from './cache.ts'
import type { Era, ToolDefinition } from './connect.ts'
import { serverDigest, toTools } from './definition.ts'
import { type Guard, openGuard } from './guard.ts'
import { buildIndex, type Found, type Index, type Query, search } from './search.ts'
import { type CallOptions, Upstream } from './upstream.ts'
import { problemOf } from './validate.ts'

export { buildIndex, type Found, type Hit, type Index, type Query, search } from './search.ts'
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
  /** `silent` are servers whose tools are not known: they could not be asked, or take longer than a search may. */
  search(query: Query): Promise<Found & { silent: string[] }>
  /** Ends every server. */
  close(): Promise<void>
}

/** One server as the catalogue knows it; `live` once it spoke for itself in this life of ours. */
type Entry = {
  name: string
  digest: string
  tools: Tool[] | null
  live: boolean
  upstream: Upstream
  /** While it is being asked for its tools. */
  asking: Promise<void> | null
  /** Why it could not be asked, until it is time to try again. */
  failure: { error: AppError; until: number } | null
}

export function openCatalog(options: CatalogOptions): Catalog {
  const guard = openGuard()
  let index: Index | null = null
  const changed = () => {
    index = null
  }
  const names = Object.keys(options.servers)
  const entries = new Map(names.map((name) => [name, openEntry(name, options, guard, changed)]))
  return {
    async tools({ server, refresh = false } = {}) {
      const asked = [...entries.values()].filter(({ name }) => server === undefined || name === server)
      return merge(await Promise.all(asked.map((entry) => listOf(entry, refresh))))
    },
    async tool(id) {
      const { server, name } = splitToolId(id) ?? {}
      const entry = server === undefined ? undefined : entries.get(server)
      if (entry === undefined) return undefined
      const named = ({ tools }: ToolList) => tools.find((tool) => tool.name === name)
      return named(await listOf(entry, false)) ?? named(await listOf(entry, !entry.live && entry.failure === null))
    },
    problemOf,
    async try(tool, args, callOptions) {
      const entry = entries.get(tool.server)
      return entry === undefined ? unknownServer(tool) : entry.upstream.try(tool, args, callOptions)
    },
    digests: () => Object.fromEntries([...entries.values()].map(({ name, digest }) => [name, digest])),
    async search(query) {
      const { filter: { server } = {} } = query
      const asked = [...entries.values()].filter(({ name }) => server === undefined || name === server)
      await Promise.race([
        Promise.all(asked.map((entry) => listOf(entry, false))),
        pause(limits.discoverWaitMsMax, null, { ref: false }),
      ])
      index ??= buildIndex([...entries.values()].flatMap(({ tools }) => tools ?? []))
      return { ...search(index, query), silent: asked.filter(({ tools }) => tools === null).map(({ name }) => name) }
    },
    async close() {
      await Promise.all([...entries.values()].map(({ upstream }) => upstream.close()))
      guard.close()
    },
  }
}

function openEntry(name: string, options: CatalogOptions, guard: Guard, moved: () => void): Entry {
  const { servers, folder, baseEnv, secrets = [], log } = options
  const config = servers[name]!
  const digest = serverDigest(config, secrets)
  const remembered = recall(folder, name, digest)
  let era: Era | null = remembered?.era ?? null
  const opened = (spoken: Era) => {
    era = spoken
    log?.(`${name}: started, speaks the ${era.kind} protocol`)
  }
  const changed = (definitions: ToolDefinition[]) => {
    Object.assign(entry, { tools: toTools(name, config, definitions), live: true, failure: null })
    moved()
    try {
      remember(folder, name, { definition: digest, at: Date.now(), era: era!, tools: definitions })
    } catch (error) {
      log?.(`${name}: cannot keep its tools for the next start: ${(error as Error).message}`)
    }
  }
  const upstream = new Upstream({ name, config, guard, baseEnv, era: () => era, opened, changed })
  const tools = remembered && toTools(name, config, remembered.tools)
  const entry: Entry = { name, digest, tools, live: false, upstream, asking: null, failure: null }
  return entry
}

async function listOf(entry: Entry, refresh: boolean): Promise<ToolList> {
  const { name, tools, failure } = entry
  if (!refresh && tools !== null) return { tools, problems: [] }
  if (!refresh && failure !== null && Date.now() < failure.until)
    return { tools: [], problems: [{ server: name, ...failure }] }
  try {
    entry.asking ??= entry.upstream.list().finally(() => {
      entry.asking = null
    })
    await entry.asking
    return { tools: entry.tools ?? [], problems: [] }
  } catch (thrown) {
    const error = toAppError(thrown)
    entry.failure = { error, until: Date.now() + limits.upstreamAskAgainMs }
    return { tools: entry.tools ?? [], problems: [{ server: name, error }] }
  }
}

function merge(lists: ToolList[]): ToolList {
  return { tools: lists.flatMap(({ tools }) => tools), problems: lists.flatMap(({ problems }) => problems) }
}

function unknownServer({ id: tool, server }: Tool): Try {
  const message = `Cannot call "${tool}": the configuration has no server "${server}"`
  return { outcome: 'not_sent', error: new AppError('TOOL_NOT_FOUND', message, { tool }) }
}
