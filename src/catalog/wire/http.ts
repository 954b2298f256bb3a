/** A server behind an address: streamable HTTP, with the headers of the configuration. */
import { type FetchLike, type JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { limits, within } from '#model'
import { boundedFetch } from './bounded-fetch.ts'
import { Receipts, refuseDeep } from './receipts.ts'
import { wasRefused } from './refused-requests.ts'

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>

export class HttpWire extends StreamableHTTPClientTransport {
  readonly receipts = new Receipts()
  /** Requests that wait for an answer, by id. */
  readonly #open = new Map<unknown, AbortController>()

  constructor(url: string, headers: Record<string, string>, fetch: FetchLike) {
    const oversized = (request?: RequestInit) => {
      if (typeof request?.body === 'string') this.receipts.oversized(JSON.parse(request.body))
    }
    super(new URL(url), { requestInit: { headers }, fetch: boundedFetch(fetch, oversized) })
    this.onmessage = (message) => {
      refuseDeep(message as Record<string, unknown>)
      this.receipts.arrived(message)
      if ('id' in message && !('method' in message)) this.#open.delete(message.id)
    }
  }

  get hasSession(): boolean {
    return this.sessionId !== undefined
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options: SendOptions = {}): Promise<void> {
    if (Array.isArray(message)) return super.send(message, options)
    const receipt = this.receipts.leaving(message)
    try {
      await super.send(message, {
        ...options,
        ...this.#untilCancelled(message, options),
        onRequestStreamEnd: () => receipt?.lost(),
      })
    } catch (error) {
      if (receipt?.state === 'sent' && wasRefused(error)) receipt.state = 'waiting'
      if ('id' in message) this.#letGo(message.id)
      throw error
    } finally {
      if ('method' in message && message.method === 'notifications/cancelled') this.#letGo(message.params?.requestId)
    }
  }

  /**
   * A server of the legacy era may hold the connection of an abandoned call for as long as it
   * likes.
   */
  #untilCancelled(message: JSONRPCMessage, { requestSignal }: SendOptions): SendOptions {
    if (!('method' in message && 'id' in message)) return {}
    const stop = new AbortController()
    this.#open.set(message.id, stop)
    requestSignal?.addEventListener('abort', () => this.#letGo(message.id), { once: true })
    return { requestSignal: stop.signal }
  }

  #letGo(id: unknown): void {
    this.#open.get(id)?.abort()
    this.#open.delete(id)
  }

  /** Tells the server that its session is over, where there is one, without waiting long for it. */
  override async close(): Promise<void> {
    const ended = this.terminateSession().catch(() => {})
    await within(ended, limits.upstreamEndOfInputMsMax)
    await super.close()
  }
}
