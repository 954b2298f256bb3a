/**
 * The client of ours for which a conversation with a server is held: what the server asks and says
 * is handed to it.
 */
import type { Client, ClientCapabilities, Implementation, ServerCapabilities } from '@modelcontextprotocol/client'
import type { Question, ServerNotification } from '#catalog/tool-server'
import { type JsonObject, limits } from '#model'

/** The client for whom a conversation is held. */
export type Peer = {
  capabilities: ClientCapabilities
  asked(question: Question): Promise<JsonObject>
  heard(notification: ServerNotification): void
}

const questions = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
} as const

type Asking = Pick<ClientCapabilities, keyof typeof questions>

/** Of what a client can do, what a server can be told of: the rest would end with us. */
export function passableCapabilities(capabilities: ClientCapabilities = {}): Asking {
  const { elicitation, sampling, roots } = capabilities
  return { ...(elicitation && { elicitation }), ...(sampling && { sampling }), ...(roots && { roots }) }
}

export function canBeAsked(capabilities: ClientCapabilities): boolean {
  return Object.keys(passableCapabilities(capabilities)).length > 0
}

/** Whatever the server asks or says goes to the peer. */
export function listenFor({ capabilities, asked, heard }: Peer, client: Client): void {
  const known = Object.entries(questions) as [keyof Asking, Question['method']][]
  for (const [name, method] of known) {
    if (capabilities[name] === undefined) continue
    client.setRequestHandler(method, (async ({ params }: { params?: JsonObject }) =>
      asked({ method, ...(params && { params }) })) as never)
  }
  for (const method of ['notifications/message', 'notifications/resources/updated'] as const) {
    client.setNotificationHandler(method, ({ params }) => heard({ method, params: params as JsonObject }))
  }
}

/** The lists that a peer is told the change of, beside that of the tools, which is ours too. */
export function listsOf({ heard }: Peer) {
  const changed = (method: string) => ({
    autoRefresh: false,
    debounceMs: limits.listChangedMs,
    onChanged: () => heard({ method }),
  })
  return {
    prompts: changed('notifications/prompts/list_changed'),
    resources: changed('notifications/resources/list_changed'),
  }
}

/** What a server says of itself. */
export type ServerInfo = { info: Implementation; capabilities: ServerCapabilities; instructions?: string }

export function serverInfoOf(client: Client): ServerInfo {
  const instructions = client.getInstructions()
  return {
    info: client.getServerVersion() ?? { name: 'unknown', version: '0' },
    capabilities: client.getServerCapabilities() ?? {},
    ...(instructions !== undefined && { instructions }),
  }
}
