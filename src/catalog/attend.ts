/** Whoever is there while a request to a server is under way: what they send along, what they hear, and what they can be asked. */
import type {
  Client,
  ClientCapabilities,
  Implementation,
  Progress,
  ServerCapabilities,
} from '@modelcontextprotocol/client'
import { type Json, type JsonObject, limits, type Tool, type Try } from '#model'

/** What a server asks of a client, in either era. */
export type Question = { method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'; params?: JsonObject }
export type Heard = { method: string; params?: JsonObject }
export type { Progress }

/** Nothing of it stands in the record, and a run that is resumed has none. */
export type Attendant = {
  /** The conversation to use in place of the one that everybody shares. */
  passage?: { readonly server: string; try(tool: Tool, args: Json, options: CallOptions): Promise<Try> }
  /** Sent along as the `_meta` of the request. */
  meta?: JsonObject
  /** How much of the server's log they want to hear, where they say so for each request. */
  level?: string
  /** What the server says of how far it is. */
  progress?(progress: Progress): void
  /** The run has got this far. */
  moved?(progress: Progress): void
  /** `key` is the server's own name of the question, where it has one. */
  ask?(question: Question, key: string | null): Promise<JsonObject>
  /** What they were asked is refused, since another needs their place; false where nothing waits for them. */
  giveUp?(): boolean
  /** A line of the server's log. */
  heard?(notification: Heard): void
}

/** `run` matters to a stateful server: what a run began in one life of it cannot go on in another. */
export type CallOptions = {
  signal: AbortSignal
  timeoutMs: number
  run?: string
  /** Its number in the run: a tool that runs here names what it writes after both. */
  call?: string
  /** The W3C trace context of the call, sent along. */
  traceparent?: string
  /** The answer as it came is wanted too. */
  whole?: boolean
  attendant?: Attendant
  /**
   * Called once a slot is taken and the server is connected, right before the request is written; where it resolves to
   * false, nothing is sent. Absent where nobody keeps a record of the call.
   */
  commit?: () => Promise<boolean>
}

/** The client for whom a conversation is held. */
export type Peer = {
  capabilities: ClientCapabilities
  asked(question: Question): Promise<JsonObject>
  heard(notification: Heard): void
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
export type Facts = { info: Implementation; capabilities: ServerCapabilities; instructions?: string }

export function factsOf(client: Client): Facts {
  const instructions = client.getInstructions()
  return {
    info: client.getServerVersion() ?? { name: 'unknown', version: '0' },
    capabilities: client.getServerCapabilities() ?? {},
    ...(instructions !== undefined && { instructions }),
  }
}
