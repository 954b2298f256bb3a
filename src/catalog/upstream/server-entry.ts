/**
 * One server as the catalogue knows it: what it said last, in this life of ours or in an earlier
 * one, and how to ask it again.
 */

import {
  isReadable,
  openLastList,
  type PinRecord,
  type Pins,
  type Recalled,
  recall,
  remember,
  serverDigest,
  toTools,
} from '#catalog/definitions'
import {
  ClientConversation,
  type ClientConversationOptions,
  type Era,
  type Listing,
  McpClient,
  type McpClientOptions,
  type ToolDefinition,
} from '#catalog/mcp'
import { type Authorize, Oauth } from '#catalog/oauth'
import type { ServerReaper } from '#catalog/processes'
import { openShapes, type Shapes } from '#catalog/schema'
import {
  type CallOptions,
  type Patience,
  redact,
  redactTry,
  type ToolList,
  type ToolServer,
} from '#catalog/tool-server'
import { AppError, type Json, limits, type ServerConfig, type Tool, type Try, toAppError, within } from '#model'
import { openServerBox } from '#sandbox'

export type ServersOptions = {
  servers: Readonly<Record<string, ServerConfig>>
  /** Where what the servers said is kept between two lives of ours. */
  folder: string
  baseEnv: { PATH?: string; HOME?: string }
  /** The process that starts the servers, as others know it. */
  process?: string
  /** Values to leave out of the digests and of what is pinned. */
  secrets?: readonly string[]
  /** Where tools are pinned; without it nothing is. */
  pins?: PinRecord
  /** The home's folder of keys, where logins are kept; without it no login is possible. */
  keys?: string
  /** Asked where a server needs a login, instead of saying that it does. */
  authorize?: Authorize
  /** Where the boxes of servers keep what they need, and what none of them is shown. */
  boxes?: { folder: string; hidden: readonly string[] }
  log?: (line: string) => void
}

/** A server that speaks MCP. `live` once it spoke for itself in this life of ours. */
export type Entry = ToolServer & {
  /** The protocol era it spoke last; null before its first start. */
  era: Era['kind'] | null
  shapes: Shapes
  live: boolean
  upstream: McpClient
  /** Conversations held for one client each. */
  passages: Set<ClientConversation>
  passage(options: ClientConversationOptions): ClientConversation
  oauth: Oauth | null
  /** While it is being asked for its tools. */
  asking: { since: number; answered: Promise<void> } | null
  /** Why it could not be asked, until it is time to try again. */
  failure: { error: AppError; until: number } | null
  /** It failed in this process: its next start is not waited for as a first one is. */
  hasFailed: boolean
  log: ServersOptions['log']
}

type World = {
  guard: ServerReaper
  pins: Pins /** What there is to find is not what it was. */
  moved: () => void
}

/** Every conversation with a server, those for one client included. */
export function clientsOf({ upstream, passages }: Entry) {
  return [upstream, ...passages]
}

export function openEntry(name: string, options: ServersOptions, { guard, pins, moved }: World): Entry {
  const { servers, folder, baseEnv, secrets = [], log } = options
  const config = servers[name]!
  const boxes = { folder: options.boxes?.folder ?? `${folder}-boxes`, hidden: options.boxes?.hidden ?? [] }
  const digest = serverDigest(config, secrets)
  const remembered = recall(folder, name, digest)
  let era: Era | null = remembered?.era ?? null
  const opened = (spoken: Era) => {
    era = spoken
  }
  const shapes = openShapes({ folder, server: name, secrets, log: (line) => log?.(line) })
  const oauth = oauthOf(name, config, options)
  const toolsOf = (definitions: ToolDefinition[], digests: readonly string[] | null = null) =>
    toTools(name, config, definitions, digests).map((tool) => withShape(tool, shapes))
  const lastList = openLastList(remembered?.kept?.listed ?? null, pins, (definition) => toolsOf([definition])[0])
  const changed = async (listing: Listing) => {
    const granted = oauth?.secrets() ?? []
    // What is hidden in a list depends on more than the list.
    if (granted.length === 0 && lastList.isSame(listing)) {
      Object.assign(entry, { era: era!.kind, live: true, failure: null })
      return
    }
    lastList.forget()
    const { definitions: said, isStrict } = listing.read()
    const definitions = redact(said, granted)
    const tools = toolsOf(definitions)
    const unreadable = definitions.filter((definition) => !isReadable(definition)).length
    if (unreadable > 0)
      log?.(`${name}: ${unreadable} of its tools are left out: their names cannot be shown as they are`)
    Object.assign(entry, { tools, era: era!.kind, live: true, failure: null })
    moved()
    try {
      await pins.observe(tools)
      const seen = lastList.seen(listing, isStrict && granted.length === 0)
      remember(folder, name, { definition: digest, at: Date.now(), era: era!, tools: definitions }, tools, seen)
    } catch (error) {
      log?.(`${name}: cannot keep what its tools are: ${(error as Error).message}`)
    }
  }
  const now = (tool: Tool) => lastList.tool(tool.name) ?? entry.tools?.find((other) => other.name === tool.name) ?? tool
  const own: McpClientOptions = {
    name,
    config,
    guard,
    baseEnv,
    oauth,
    secrets,
    era: () => era,
    box: (asked) => openServerBox({ ...asked, server: name, ...boxes }),
    startMsMax: () => (entry.tools === null ? limits.upstreamFirstStartMsMax : limits.upstreamStartMsMax),
    opened,
    changed,
    problemOf: (tool) => pins.problemOf(now(tool)),
  }
  const upstream = new McpClient(own)
  const passages = new Set<ClientConversation>()
  const passage = (asked: ClientConversationOptions) => {
    const held = new ClientConversation(
      name,
      (peer) => new McpClient({ ...own, peer, opening: () => makeRoom(name, passages) }),
      asked,
      () => passages.delete(held),
    )
    passages.add(held)
    return held
  }
  const tools = remembered && toolsOf(remembered.tools, remembered.kept?.digests)
  if (tools) repair(remembered, tools)
  const lines = { upstream, passages, passage, oauth }
  const state = { live: false, asking: null, failure: null, hasFailed: false }
  const entry: Entry = {
    name,
    digest,
    tools,
    era: remembered?.era.kind ?? null,
    shapes,
    ...lines,
    ...state,
    log,
    list: (refresh, patience) => listWithin(entry, refresh, patience),
    async try(tool, args, options) {
      const outcome = await tryAt(entry, tool, args, options)
      if (outcome.outcome === 'answered' && outcome.ok && observe(entry, tool, outcome.value)) moved()
      return outcome
    },
  }
  return entry
}

/** Where the disk does not take it, the next process computes its own. */
function repair(remembered: Recalled, tools: readonly Tool[]): void {
  try {
    remembered.repair?.(tools)
  } catch {}
}

/**
 * Each client has a conversation of its own, which may be a process: of the idle ones, the one that
 * was idle longest ends.
 */
function makeRoom(name: string, passages: ReadonlySet<ClientConversation>): void {
  const open = [...passages].filter(({ isOpen }) => isOpen)
  if (open.length < limits.passagesOpenMax) return
  const [resting] = open.filter(({ isResting }) => isResting).sort((left, right) => left.usedAt - right.usedAt)
  if (resting !== undefined) return resting.rest()
  const message = `Cannot reach the server "${name}" for another client: ${limits.passagesOpenMax} are in the middle of something; try again later`
  throw new AppError('BUDGET_EXCEEDED', message, { passages: limits.passagesOpenMax })
}

/** A server whose headers say who we are has no use for a login. */
function oauthOf(server: string, config: ServerConfig, { keys, authorize }: ServersOptions): Oauth | null {
  if (keys === undefined || config.type === 'stdio') return null
  if (Object.keys(config.headers).some((name) => name.toLowerCase() === 'authorization')) return null
  return new Oauth({
    server,
    url: config.url,
    config: config.oauth,
    keys,
    ...(authorize === undefined ? {} : { authorize }),
  })
}

function withShape(tool: Tool, shapes: Shapes): Tool {
  const observed = tool.output === undefined ? shapes.of(tool) : undefined
  return observed === undefined ? tool : { ...tool, observed }
}

/**
 * In the conversation of the client that is there, or in the shared one; without the tokens of our
 * login.
 */
async function tryAt(entry: Entry, tool: Tool, args: Json, options: CallOptions): Promise<Try> {
  const { passage } = options.attendant ?? {}
  const line = passage?.server === entry.name ? passage : entry.upstream
  return redactTry(await line.try(tool, args, options), entry.oauth?.secrets() ?? [])
}

/** Learns from an answer; true when there is something new to find. */
function observe({ tools, shapes }: Entry, tool: Tool, value: Json): boolean {
  if (tool.output !== undefined || !shapes.observe(tool, value)) return false
  const place = tools?.findIndex(({ digest }) => digest === tool.digest) ?? -1
  if (place < 0) return false
  tools![place] = withShape(tools![place]!, shapes)
  return true
}

async function listOf(entry: Entry, refresh: boolean): Promise<ToolList> {
  const { name, tools, failure } = entry
  if (!refresh && tools !== null) return { tools, problems: [] }
  if (!refresh && failure !== null && Date.now() < failure.until)
    return { tools: [], problems: [{ server: name, ...failure }] }
  try {
    entry.asking ??= { since: Date.now(), answered: ask(entry) }
    await entry.asking.answered
    return { tools: entry.tools ?? [], problems: [] }
  } catch (thrown) {
    const error = toAppError(thrown)
    Object.assign(entry, { failure: { error, until: Date.now() + limits.upstreamAskAgainMs }, hasFailed: true })
    return { tools: entry.tools ?? [], problems: [{ server: name, error }] }
  }
}

async function ask(entry: Entry): Promise<void> {
  const isFirst = entry.tools === null
  const began = Date.now()
  const note = () => entry.log?.(`${entry.name}: still starting (${Math.round((Date.now() - began) / 1000)} s)`)
  const notes = isFirst ? setInterval(note, limits.firstStartNoteMs).unref() : undefined
  try {
    await entry.upstream.list()
  } finally {
    clearInterval(notes)
    entry.asking = null
  }
}

/** It is being asked for its tools for the first time, and nothing is known of them yet. */
export function isStarting({ tools, asking }: Entry): boolean {
  return tools === null && asking !== null
}

/**
 * The list, but no later than so long after it was first asked for. The request goes on: the next
 * caller joins it, and the tools are known once the server has answered.
 */
async function listWithin(entry: Entry, refresh: boolean, { waitMs, firstMs }: Patience): Promise<ToolList> {
  const isFirst = entry.tools === null && !entry.hasFailed
  const msMax = isFirst && firstMs !== undefined ? firstMs : waitMs
  const listed = listOf(entry, refresh)
  if (msMax === undefined) return listed
  const left = Math.max(0, (entry.asking?.since ?? Date.now()) + msMax - Date.now())
  const list = await within(listed, left)
  return list ?? { tools: entry.tools ?? [], problems: [{ server: entry.name, error: notYet(entry, msMax) }] }
}

function notYet(entry: Entry, waitMs: number): AppError {
  const { name: server } = entry
  const starting = 'it is still starting, maybe downloading itself; ask again in a moment'
  const state = isStarting(entry)
    ? `${starting}, or wait for it with "metier tools ${server}"`
    : `it has not answered within ${waitMs} ms and is still being asked; "metier tools ${server}" waits for it`
  return new AppError('UPSTREAM_UNREACHABLE', `Cannot list the tools of "${server}": ${state}`, { server })
}
