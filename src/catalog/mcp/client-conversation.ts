/**
 * A conversation with one server for one client of ours: the server's requests and notifications
 * reach that client, and no other.
 */
import type { ClientCapabilities, LoggingLevel } from '@modelcontextprotocol/client'
import type { Attendant, CallOptions, Question, ServerNotification } from '#catalog/tool-server'
import { AppError, type Json, type JsonObject, limits, openSemaphore, type Tool, type Try } from '#model'
import type { Connection } from './connect.ts'
import { withInputRounds } from './input-rounds.ts'
import type { McpClient } from './mcp-client.ts'
import { canBeAsked, type Peer } from './peer.ts'

export type ClientConversationOptions = {
  capabilities: ClientCapabilities
  /**
   * Several clients use it, so that a question must not reach another than the one whose request
   * raised it.
   */
  shared: boolean
  /** What the server says outside of any request. */
  heard: (notification: ServerNotification) => void
}

export class ClientConversation {
  readonly server: string
  /** When it was used last. */
  usedAt = 0
  readonly #upstream: McpClient
  readonly #options: ClientConversationOptions
  /** Those whose requests are under way, the newest last. */
  readonly #present = new Set<Attendant>()
  readonly #closed: () => void
  #level: string | undefined
  #era: string | undefined
  /** Among strangers it matters who is asked. */
  readonly #mayAsk: boolean
  readonly #turns = openSemaphore(1)
  #questions = 0
  readonly #subscriptions = new Map<string, { count: number; end(): Promise<void> }>()

  constructor(server: string, open: (peer: Peer) => McpClient, options: ClientConversationOptions, closed: () => void) {
    this.server = server
    this.#closed = closed
    this.#options = options
    this.#mayAsk = options.shared && canBeAsked(options.capabilities)
    this.#upstream = open({
      capabilities: options.capabilities,
      asked: (question) => this.#asked(question),
      heard: (notification) => this.#heard(notification),
    })
  }

  /** Another client would have to wait. */
  get isTaken(): boolean {
    return this.#mayAsk && this.#era !== 'modern' && [...this.#present].some(({ ask }) => ask !== undefined)
  }

  /** Gives up an unanswered question that holds it up; false where there is none. */
  giveWay(): boolean {
    return [...this.#present].some((attendant) => attendant.giveUp?.() === true)
  }

  get isIdle(): boolean {
    return this.#present.size === 0 && this.#subscriptions.size === 0
  }

  /** Connected, with no request under way and no listener. */
  get isResting(): boolean {
    return this.#upstream.isOpen && !this.#upstream.isUsed
  }

  get isOpen(): boolean {
    return this.#upstream.isOpen
  }

  rest(): void {
    this.#upstream.rest()
  }

  try(tool: Tool, args: Json, options: CallOptions): Promise<Try> {
    const { attendant = {}, signal } = options
    return this.#attended(attendant, signal, () => this.#upstream.try(tool, args, options))
  }

  /** Any other request; the answer is the server's own, and so is an error. */
  request(method: string, params: JsonObject, attendant: Attendant, signal: AbortSignal): Promise<JsonObject> {
    const { meta = {}, ask = nobody, progress } = attendant
    const send = ({ client }: Connection) =>
      withInputRounds(async (round) => {
        const request = { method: method as 'ping', params: { ...params, ...round, _meta: meta } }
        const options = { signal, timeout: limits.passedRequestMsMax, allowInputRequired: true }
        return (await client.request(request, { ...options, ...(progress && { onprogress: progress }) })) as JsonObject
      }, ask)
    return this.#attended(attendant, signal, () => this.#upstream.use(send, signal))
  }

  /**
   * Opens the conversation and keeps it open, so that the server is heard, until what this answers
   * with is called.
   */
  async listen(uris: string[], signal: AbortSignal): Promise<() => Promise<void>> {
    const leave = this.#upstream.stay()
    const open: string[] = []
    const end = async () => {
      leave()
      for (const uri of open) await this.unsubscribe(uri)
    }
    try {
      await this.#upstream.use(async () => {}, signal)
      for (const uri of uris) await this.subscribe(uri, signal).then(() => open.push(uri))
      return end
    } catch (error) {
      await end()
      throw error
    }
  }

  /**
   * The server tells of changes of the resource until it is unsubscribed as often; it is not ended
   * meanwhile.
   */
  async subscribe(uri: string, signal: AbortSignal): Promise<void> {
    const known = this.#subscriptions.get(uri)
    if (known !== undefined) {
      known.count += 1
      return
    }
    if (this.#subscriptions.size >= limits.passageSubscriptionsMax) {
      const message = `Cannot subscribe to "${uri}": ${limits.passageSubscriptionsMax} subscriptions are open; end one of them`
      throw new AppError('BUDGET_EXCEEDED', message, { subscriptions: limits.passageSubscriptionsMax })
    }
    const leave = this.#upstream.stay()
    try {
      const end = await this.#upstream.use((connection) => watch(connection, uri), signal)
      this.#subscriptions.set(uri, { count: 1, end: () => end().finally(leave) })
    } catch (error) {
      leave()
      throw error
    }
  }

  async unsubscribe(uri: string): Promise<void> {
    const known = this.#subscriptions.get(uri)
    if (known === undefined || --known.count > 0) return
    this.#subscriptions.delete(uri)
    await known.end()
  }

  /** In the modern era each request says for itself what it wants to hear. */
  setLevel(level: string, signal: AbortSignal): Promise<void> {
    this.#level = level
    return this.#upstream.use(async ({ client, era }) => {
      if (era.kind === 'legacy') await client.setLoggingLevel(level as LoggingLevel, { signal })
    }, signal)
  }

  /** The roots of the client are not what they were. */
  rootsChanged(signal: AbortSignal): Promise<void> {
    return this.#upstream.use(async ({ client, era }) => {
      if (era.kind === 'legacy') await client.sendRootsListChanged()
    }, signal)
  }

  release(run: string): void {
    this.#upstream.release(run)
  }

  async close(): Promise<void> {
    this.#closed()
    await this.#upstream.close()
  }

  /**
   * In the legacy era a question does not say which request raised it: among strangers only one is
   * under way at a time.
   */
  async #attended<Value>(attendant: Attendant, signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    const level = attendant.level !== this.#level ? attendant.level : undefined
    if (this.#mayAsk || level !== undefined) this.#era = await this.#upstream.use(async ({ era }) => era.kind, signal)
    const isLegacy = this.#era === 'legacy'
    if (isLegacy && level !== undefined) await this.setLevel(level, signal).catch(() => {})
    const leave = isLegacy && this.#mayAsk && attendant.ask !== undefined ? await this.#turns.acquire(signal) : () => {}
    this.#present.add(attendant)
    try {
      return await work()
    } finally {
      this.usedAt = performance.now()
      this.#present.delete(attendant)
      leave()
    }
  }

  /** A server that asks without end does not pile up its questions before a human. */
  async #asked(question: Question): Promise<JsonObject> {
    const ask = [...this.#present].findLast((attendant) => attendant.ask !== undefined)?.ask ?? nobody
    if (this.#questions >= limits.questionsAtOnceMax)
      throw new Error(`${limits.questionsAtOnceMax} questions wait for an answer; ask when one is answered`)
    this.#questions++
    return ask(question, null).finally(() => this.#questions--)
  }

  #heard(notification: ServerNotification): void {
    const hears = [...this.#present].findLast((attendant) => attendant.heard !== undefined)
    if (notification.method === 'notifications/message' && hears !== undefined) hears.heard!(notification)
    else this.#options.heard(notification)
  }
}

/** Answers with how to end it. */
async function watch({ client, era }: Connection, uri: string): Promise<() => Promise<void>> {
  if (era.kind === 'modern') {
    const subscription = await client.listen({ resourceSubscriptions: [uri] })
    return () => subscription.close()
  }
  await client.subscribeResource({ uri })
  return async () => void (await client.unsubscribeResource({ uri }).catch(() => {}))
}

async function nobody({ method }: Question): Promise<JsonObject> {
  throw new Error(`nobody is there to answer ${method}`)
}
