/**
 * The ways to one server whole: an endpoint over HTTP like /mcp, or the only thing that a host
 * sees over stdio.
 */
import {
  InMemoryServerEventBus,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerEvent,
} from '@modelcontextprotocol/server'
import type { Forms } from '#gateway/elicitation'
import type { McpServers, ProtocolEra } from '#gateway/mcp'
import { isObject, type JsonObject, toAppError } from '#model'
import type { ServerNotification, Verbs } from '#verbs'
import { ConversationPool } from './conversation-pool.ts'
import { InputExchanges } from './input-exchange.ts'
import { createPassthroughServer } from './passthrough-server.ts'

type PassthroughOptions = { verbs: Verbs; forms: Forms; name: string }

/**
 * Each session has a conversation of its own; requests of the modern era share those of their kind.
 */
export function passthroughServers(behind: PassthroughOptions): McpServers {
  const bus = new InMemoryServerEventBus()
  const exchanges = new InputExchanges()
  const publish = (notification: ServerNotification) => {
    const event = eventOf(notification)
    if (event !== null) bus.publish(event)
  }
  const passages = new ConversationPool({ ...behind, shared: true, heard: publish })
  return {
    forSession: async () => (await openPassthroughConnection(behind, 'legacy')).server,
    forRequest: () =>
      createPassthroughServer({ ...behind, exchanges, passage: (can) => passages.of(can) }, 'modern').catch(
        unreachableServer,
      ),
    ready: () => behind.verbs.passthrough.serverInfo(behind.name),
    inputSchema: (tool) => behind.verbs.passthrough.inputSchema(behind.name, tool),
    bus,
    onListen: (params) => listen(passages, params),
    async close() {
      exchanges.close()
      await passages.close()
    },
  }
}

/**
 * What serves one connection: a server of either era, and how it is told that the client begins to
 * listen.
 */
export type PassthroughConnection = { server: Server; listened(params: JsonObject): Promise<() => Promise<void>> }

/** What it opens goes with it. */
export async function openPassthroughConnection(
  behind: PassthroughOptions,
  era: ProtocolEra,
): Promise<PassthroughConnection> {
  const heard = (notification: ServerNotification) => void server.notification(notification).catch(() => {})
  const passages = new ConversationPool({ ...behind, shared: false, heard })
  const exchanges = new InputExchanges()
  const server = await createPassthroughServer({ ...behind, exchanges, passage: (can) => passages.of(can) }, era)
  server.onclose = () => {
    exchanges.close()
    void passages.close()
  }
  return { server, listened: (params) => listen(passages, params) }
}

/** A client of the modern era wants to hear of changes; answers with how to end that. */
async function listen(passages: ConversationPool, { _meta, notifications }: JsonObject): Promise<() => Promise<void>> {
  const { 'io.modelcontextprotocol/clientCapabilities': can } = (isObject(_meta) ? _meta : {}) as JsonObject
  const { resourceSubscriptions: uris } = (isObject(notifications) ? notifications : {}) as JsonObject
  const wanted = Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : []
  return passages.of(isObject(can) ? can : {}).listen(wanted, AbortSignal.timeout(10_000))
}

/** In place of a server that cannot be reached: it says why, whatever it is asked. */
function unreachableServer(thrown: unknown): Server {
  const { message, ...error } = toAppError(thrown).toJSON()
  const refuse = async () => {
    throw new ProtocolError(ProtocolErrorCode.InternalError, message, error)
  }
  const server = new Server({ name: 'metier', version: '0' }, { capabilities: {} })
  server.fallbackRequestHandler = refuse
  return server
}

function eventOf({ method, params = {} }: ServerNotification): ServerEvent | null {
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
