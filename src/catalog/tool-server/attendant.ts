/**
 * What a caller sends along with a call of a tool, and what it can hear and answer while the call
 * is under way.
 */
import type { Progress } from '@modelcontextprotocol/client'
import type { Json, JsonObject, Tool, Try } from '#model'

/** What a server asks of a client, in either era. */
export type Question = { method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'; params?: JsonObject }
export type ServerNotification = { method: string; params?: JsonObject }
export type { Progress }

/** Nothing of it stands in the record, and a run that is resumed has none. */
export type Attendant = {
  /** The conversation to use in place of the shared one. */
  passage?: { readonly server: string; try(tool: Tool, args: Json, options: CallOptions): Promise<Try> }
  /** Sent along as the `_meta` of the request. */
  meta?: JsonObject
  /** How much of the server's log they want to hear, where they say so for each request. */
  level?: string
  /** What the server says of how far it is. */
  progress?(progress: Progress): void
  /** The run has got this far. */
  runProgressed?(progress: Progress): void
  /** `key` is the server's own name of the question, where it has one. */
  ask?(question: Question, key: string | null): Promise<JsonObject>
  /**
   * What they were asked is refused, since another needs their place; false where nothing waits for
   * them.
   */
  giveUp?(): boolean
  /** A line of the server's log. */
  heard?(notification: ServerNotification): void
}

/**
 * `run` matters to a stateful server: what a run began in one life of it cannot go on in another.
 */
export type CallOptions = {
  signal: AbortSignal
  timeoutMs: number
  run?: string
  /** Its number in the run: a tool that runs here names what it writes after both. */
  call?: string
  /** How often it was tried, with this try. */
  attempt?: number
  /** The W3C trace context of the call, sent along. */
  traceparent?: string
  /** The answer as it came is wanted too. */
  whole?: boolean
  attendant?: Attendant
  /**
   * Called once a slot is taken and the server is connected, right before the request is written;
   * where it resolves to false, nothing is sent. Absent where the call is not recorded.
   */
  commit?: () => Promise<boolean>
}
