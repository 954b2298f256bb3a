/**
 * The catalogue: what can be called, found and judged before it is called. In go the servers of the
 * configuration; out come tools, answers to discover, and the three outcomes of a try. It refuses
 * nothing by policy: that is for the run.
 */

import { type BuiltInOptions, openBuiltIn } from '#catalog/built-in'
import { builtInTools } from '#catalog/built-in-tools'
import { forAgents, listForAgents } from '#catalog/definitions'
import { openIndexer } from '#catalog/index'
import { type ClientConversation, type ClientConversationOptions, type ServerInfo, serverInfoOf } from '#catalog/mcp'
import type { Login, Logout, Oauth } from '#catalog/oauth'
import { endOrphansOf } from '#catalog/processes'
import { problemOf } from '#catalog/schema'
import { type Found, nearTools, type Query, search } from '#catalog/search'
import type { CallOptions, Patience, ToolList, ToolServer } from '#catalog/tool-server'
import {
  clientsOf,
  type Entry,
  isStarting,
  openSharedServers,
  type ServersOptions,
  type SharedServers,
} from '#catalog/upstream'
import { AppError, builtInServer, type Json, limits, splitToolId, type Tool, type ToolDiff, type Try } from '#model'

export { applyDiff, type PinRecord } from '#catalog/definitions'
export { buildIndex, openIndexer, stem, stemOf, synonymGroup, tokenize } from '#catalog/index'
export { boxWords, type ClientConversation, passableCapabilities } from '#catalog/mcp'
export { type Authorize, authorizationFetch, type Logout, openCallback } from '#catalog/oauth'
export { endOrphansOf } from '#catalog/processes'
export { declarationsOf, definiteProblems, fitsOutput, problemOf, refersTo, signatureOf } from '#catalog/schema'
export { type Found, type Hit, type Query, search, verdictFeatures } from '#catalog/search'
export type { Attendant, Progress, Question, ServerNotification, ToolList } from '#catalog/tool-server'
export { type CallOptions, cancelledOf, timeoutOf } from '#catalog/tool-server'

type CatalogOptions = ServersOptions & {
  /** What an agent's session has beside them: never listed, found or searched. */
  session?: readonly SessionServer[]
  /** What the tools of this process work on; without it there are none. */
  builtIn?: BuiltInOptions
}

/** A server whose tools are told by their names alone. */
export type SessionServer = Pick<ToolServer, 'name' | 'try'> & {
  tool(name: string): Tool | undefined
  close(): Promise<void>
}

export type Catalog = {
  /**
   * From what is remembered where that is of the same definition, else from the server itself;
   * `refresh` always asks. A server that takes longer than `waitMs` (at its first start: than
   * `firstMs`) is one of the problems, and is asked on.
   */
  tools(options?: { server?: string; refresh?: boolean } & Patience): Promise<ToolList>
  /** Starts the servers whose tools were never listed, in the background. */
  warmUp(): void
  /** The protocol era that a server spoke last; null before its first start. */
  eraOf(server: string): 'legacy' | 'modern' | null
  tool(id: string, waitMs?: number): Promise<Tool | undefined>
  /** A tool of an agent's session; the caller makes sure that this is one. */
  sessionTool(id: string): Tool | undefined
  /**
   * Why the server that would have this tool could not be asked, if that was so when it was asked
   * last.
   */
  problemOfServer(id: string): AppError | null
  /** Tools that may be meant by an id that names none, the nearest first. */
  near(id: string): string[]
  /** Why a call is not to be made: the tool is not what it was, or the arguments do not fit. */
  problemOf(tool: Tool, args: Json): AppError | null
  /** Why a tool is not called at all as it is now: it changed, and the change is not accepted. */
  refusalOf(tool: Tool): AppError | null
  /** How a tool differs from the definition that is pinned; null where it does not. */
  changeOf(tool: Tool): ToolDiff | null
  /**
   * The tool as an agent may be told of it: of one that must not be called as it is, nothing that
   * its server changed.
   */
  forAgents(tool: Tool): Tool
  /** The same of a server's own list of tools. */
  listForAgents(server: string, listed: readonly Json[]): Json[]
  isPinned(tool: Tool): boolean
  /**
   * From now on the tool counts as it is; answers with what was accepted, empty where nothing had
   * changed.
   */
  accept(tool: Tool, who: string): Promise<ToolDiff>
  try(tool: Tool, args: Json, options: CallOptions): Promise<Try>
  /** What a server says of itself; it is started for that. */
  serverInfo(server: string): Promise<ServerInfo>
  /** A conversation with one server for one client of ours; the code that opens it closes it. */
  passage(server: string, options: ClientConversationOptions): ClientConversation
  /**
   * The run has used these servers before, maybe in another process: what it began in stateful ones
   * may be gone.
   */
  carryOver(run: string, servers: Iterable<string>): void
  /** Resolves when nothing is alive any more that a dead process of ours had started. */
  endOrphansOf(process: string): Promise<void>
  /** The run is over: no stateful server need be kept for it. */
  release(run: string): void
  /** What each server is, without what is secret. */
  digests(): Record<string, string>
  /**
   * `silent` are servers whose tools are not known; of these, `starting` may be asked again in a
   * moment: they start for the first time.
   */
  search(query: Query): Promise<Found & { silent: string[]; starting: string[] }>
  /** A person gives us the right to use a server; it is kept for every process of the home. */
  login(server: string, login: Login): Promise<void>
  /** Gives it back, to the authorization server too where that takes it. */
  logout(server: string, signal: AbortSignal): Promise<Logout>
  /**
   * A catalogue of other servers beside this one. What is defined as before is the same server,
   * which goes on running and ends with the last catalogue that has it.
   */
  next(changed: Pick<CatalogOptions, 'servers' | 'secrets' | 'builtIn' | 'session'>): Catalog
  /** Ends every server that no other catalogue has. */
  close(): Promise<void>
}

export function openCatalog(options: CatalogOptions): Catalog {
  return catalogOf(options, openSharedServers(options))
}

function catalogOf(options: CatalogOptions, shared: SharedServers): Catalog {
  const { changed, current } = openIndexer(options.folder)
  const { pins } = shared
  const entries = shared.enter(options, changed)
  const builtIn = options.builtIn === undefined ? null : openBuiltIn(builtInTools, options.builtIn)
  const sessions = sessionsOf(options.session ?? [])
  const servers = new Map<string, ToolServer>(builtIn === null ? entries : [...entries, [builtIn.name, builtIn]])
  const lists = () => new Map([...servers.values()].map(({ name, tools }) => [name, tools ?? []]))
  const asked = (server: string | undefined) =>
    [...servers.values()].filter(({ name }) => server === undefined || name === server)
  return {
    tools: ({ server, ...how } = {}) => toolsOf(asked(server), how),
    warmUp() {
      for (const entry of entries.values()) if (entry.tools === null) void entry.list(false, { waitMs: 0 })
    },
    eraOf: (server) => find(entries, server).era,
    async tool(id, waitMs) {
      const { server, name } = splitToolId(id) ?? {}
      const named = ({ tools }: ToolList) => tools.find((tool) => tool.name === name)
      if (builtIn !== null && server === builtIn.name) return named(await builtIn.list(false, {}))
      const entry = server === undefined ? undefined : entries.get(server)
      if (entry === undefined) return undefined
      const soon = waitMs === undefined ? {} : { waitMs }
      const list = await entry.list(false, soon)
      const isLast = entry.live || entry.failure !== null || list.problems.length > 0
      return named(list) ?? (isLast ? undefined : named(await entry.list(true, soon)))
    },
    sessionTool: sessions.tool,
    problemOfServer(id) {
      const { server } = splitToolId(id) ?? {}
      return (server !== undefined && entries.get(server)?.failure?.error) || null
    },
    near: (id) => nearTools(id, lists()),
    problemOf: (tool, args) =>
      pins.problemOf(tool) ?? problemOf(tool, args) ?? (isOurs(tool) ? builtIn!.problemOf(tool, args) : null),
    refusalOf: (tool) => pins.problemOf(tool),
    changeOf: (tool) => pins.changeOf(tool),
    forAgents: (tool) => forAgents(tool, pins),
    listForAgents(server, listed) {
      const secrets = find(entries, server).oauth?.secrets() ?? []
      return listForAgents(listed, { server, config: options.servers[server]!, secrets }, pins)
    },
    isPinned: (tool) => pins.isPinned(tool),
    accept: async (tool, who) => (isOurs(tool) ? [] : pins.accept(tool, who)),
    async try(tool, args, callOptions) {
      return (servers.get(tool.server) ?? sessions.of(tool))?.try(tool, args, callOptions) ?? unknownServer(tool)
    },
    async serverInfo(server) {
      const signal = AbortSignal.timeout(limits.upstreamStartMsMax)
      return find(entries, server).upstream.use(async ({ client }) => serverInfoOf(client), signal)
    },
    passage: (server, asked) => find(entries, server).passage(asked),
    carryOver(run, servers) {
      for (const server of servers) entries.get(server)?.upstream.carryOver(run)
    },
    endOrphansOf: (process) => endOrphansOf(process),
    release(run) {
      for (const line of [...entries.values()].flatMap(clientsOf)) line.release(run)
    },
    digests: () => Object.fromEntries([...servers.values()].map(({ name, digest }) => [name, digest])),
    async search(query) {
      const meant = asked(query.filter?.server)
      await toolsOf(meant, { waitMs: limits.discoverWaitMsMax, firstMs: limits.firstListMsMax })
      const found = search(await current(lists), query)
      return { ...found, ...silence(meant, entries) }
    },
    login: (server, login) => oauthOf(entries, server).login(login),
    logout: (server, signal) => oauthOf(entries, server).logout(signal),
    next: (other) => catalogOf({ ...options, ...other }, shared),
    async close() {
      await Promise.all([shared.leave(entries, changed), builtIn?.close(), sessions.close()])
    },
  }
}

function sessionsOf(servers: readonly SessionServer[]) {
  const byName = new Map(servers.map((server) => [server.name, server]))
  return {
    of: ({ server }: Tool) => byName.get(server),
    tool(id: string) {
      const { server = '', name = '' } = splitToolId(id) ?? {}
      return byName.get(server)?.tool(name)
    },
    close: () => Promise.all(servers.map((server) => server.close())),
  }
}

function find(entries: ReadonlyMap<string, Entry>, server: string): Entry {
  const entry = entries.get(server)
  if (entry !== undefined) return entry
  refuseBuiltIn(server, 'speak MCP with')
  const details = `the configuration has ${[...entries.keys()].join(', ') || 'none'}`
  throw new AppError('INVALID_INPUT_PARAM', `Cannot find the server "${server}": ${details}`, {
    param: 'server',
    details,
  })
}

function oauthOf(entries: ReadonlyMap<string, Entry>, server: string): Oauth {
  const entry = entries.get(server)
  const oauth = entry?.oauth ?? null
  if (oauth !== null) return oauth
  refuseBuiltIn(server, 'log in to')
  const state =
    entry === undefined
      ? 'the configuration has no such server'
      : 'it takes no login: it is a program of this machine, or its headers say who we are'
  throw new AppError('CONFIG_INVALID', `Cannot log in to "${server}": ${state}`, { server })
}

/** It is this process: there is no server to speak to. */
function refuseBuiltIn(server: string, what: string): void {
  if (server !== builtInServer) return
  const details = 'its tools run in this process; call them with "metier call", execute or expose'
  throw new AppError('CONFIG_INVALID', `Cannot ${what} "${server}": ${details}`, { server, details })
}

/** Servers whose tools are not known, and those of them that may know in a moment. */
function silence(meant: readonly ToolServer[], entries: ReadonlyMap<string, Entry>) {
  const silent = meant.filter(({ tools }) => tools === null)
  const starting = silent.filter(({ name }) => entries.has(name) && isStarting(entries.get(name)!))
  return { silent: silent.map(nameOf), starting: starting.map(nameOf) }
}

const isOurs = ({ server }: Tool) => server === builtInServer

const nameOf = ({ name }: ToolServer) => name

type How = { refresh?: boolean } & Patience

async function toolsOf(servers: readonly ToolServer[], { refresh = false, ...patience }: How): Promise<ToolList> {
  const lists = await Promise.all(servers.map((server) => server.list(refresh, patience)))
  return { tools: lists.flatMap(({ tools }) => tools), problems: lists.flatMap(({ problems }) => problems) }
}

function unknownServer({ id: tool, server }: Tool): Try {
  const message = `Cannot call "${tool}": the configuration has no server "${server}"`
  return { outcome: 'not_sent', error: new AppError('TOOL_NOT_FOUND', message, { tool }) }
}
