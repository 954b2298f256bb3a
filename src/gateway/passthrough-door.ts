/** The doors to one server whole: an endpoint over HTTP like /mcp, or the only thing that a host sees over stdio. */
import {
  InMemoryServerEventBus,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerEvent,
} from '@modelcontextprotocol/server'
import type { Catalog, Heard } from '#catalog'
import { isObject, type JsonObject, toAppError } from '#model'
import type { Forms } from './elicit.ts'
import { Exchanges } from './exchange.ts'
import type { McpServers } from './mcp.ts'
import type { ProtocolEra } from './on-call.ts'
import { Passages } from './passages.ts'
import { createPassthroughServer } from './passthrough.ts'
import type { Verbs } from './verbs.ts'

/** What is needed of a catalogue to pass one of its servers through. */
export type Passable = Pick<Catalog, 'facts' | 'passage' | 'tool' | 'told' | 'toldList'>

export type Behind = { verbs: Verbs; catalog: Passable; forms: Forms; name: string }

/** Each session has a conversation of its own; requests of the newer era share those of their kind. */
export function passthroughServers(behind: Behind): McpServers {
  const bus = new InMemoryServerEventBus()
  const exchanges = new Exchanges()
  const publish = (notification: Heard) => {
    const event = eventOf(notification)
    if (event !== null) bus.publish(event)
  }
  const passages = new Passages({ ...behind, shared: true, heard: publish })
  return {
    forSession: async () => (await connected(behind, 'legacy')).server,
    forRequest: () =>
      createPassthroughServer({ ...behind, exchanges, passage: (can) => passages.of(can) }, 'modern').catch(refusing),
    ready: () => behind.catalog.facts(behind.name),
    takes: async (name) => {
      const tool = await behind.catalog.tool(`${behind.name}:${name}`)
      return tool === undefined ? undefined : behind.catalog.told(tool).input
    },
    bus,
    listened: (params) => listen(passages, params),
    async close() {
      exchanges.close()
      await passages.close()
    },
  }
}

/** What serves one connection: a server of either era, and how it is told that the client begins to listen. */
export type Connected = { server: Server; listened(params: JsonObject): Promise<() => Promise<void>> }

/** What it opens goes with it. */
export async function connected(behind: Behind, era: ProtocolEra): Promise<Connected> {
  const heard = (notification: Heard) => void server.notification(notification).catch(() => {})
  const passages = new Passages({ ...behind, shared: false, heard })
  const exchanges = new Exchanges()
  const server = await createPassthroughServer({ ...behind, exchanges, passage: (can) => passages.of(can) }, era)
  server.onclose = () => {
    exchanges.close()
    void passages.close()
  }
  return { server, listened: (params) => listen(passages, params) }
}

/** A client of the newer era wants to hear of changes; answers with how to end that. */
async function listen(passages: Passages, { _meta, notifications }: JsonObject): Promise<() => Promise<void>> {
  const { 'io.modelcontextprotocol/clientCapabilities': can } = (isObject(_meta) ? _meta : {}) as JsonObject
  const { resourceSubscriptions: uris } = (isObject(notifications) ? notifications : {}) as JsonObject
  const wanted = Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : []
  return passages.of(isObject(can) ? can : {}).listen(wanted, AbortSignal.timeout(10_000))
}

/** In place of a server that cannot be reached: it says why, whatever it is asked. */
function refusing(thrown: unknown): Server {
  const { message, ...error } = toAppError(thrown).toJSON()
  const refuse = async () => {
    throw new ProtocolError(ProtocolErrorCode.InternalError, message, error)
  }
  const server = new Server({ name: 'metier', version: '0' }, { capabilities: {} })
  server.fallbackRequestHandler = refuse
  return server
}

function eventOf({ method, params = {} }: Heard): ServerEvent | null {
  switch (method) {
    case 'notifications/tools/list_changed':
      return { kind: 'tools_list_changed' }
    case 'notifications/prompts/list_changed':
      return { kind: 'prompts_list_changed' }
    case 'notifications/resources/list_changed':
      return { kind: 'resources_list_changed' }
    case 'notifications/resources/updated':
      return { kind: 'resource_updated', uri: String(params.uri) }
    default:
      return null
  }
}
