/**
 * A server behind an address, over HTTP with SSE: answers come over one stream of events, requests
 * go beside it.
 */
import {
  type FetchLike,
  type JSONRPCMessage,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
} from '@modelcontextprotocol/client'
import { boundedFetch } from './bounded-fetch.ts'
import { Receipts, refuseDeep } from './receipts.ts'
import { isRefusal, wasRefused } from './refused-requests.ts'

export class SseWire extends SSEClientTransport {
  readonly receipts = new Receipts()
  /** The stream is one. */
  readonly hasSession = true
  #isClosed = false
  readonly #failure: { error?: unknown }

  constructor(url: string, headers: Record<string, string>, fetch: FetchLike) {
    const failure: { error?: unknown } = {}
    const bounded = boundedFetch(fetchOrRefuse(fetch, failure), () => this.receipts.oversized(null))
    super(new URL(url), { requestInit: { headers }, fetch: bounded })
    this.#failure = failure
    this.onmessage = (message) => {
      refuseDeep(message as Record<string, unknown>)
      this.receipts.arrived(message)
    }
    // By itself the SDK would open another stream, which has no session.
    this.onerror = (error) => void (error instanceof SseError && this.close())
  }

  /** The library tells of a stream that could not be opened, not why. */
  override async start(): Promise<void> {
    await super.start().catch((error) => {
      throw this.#failure.error ?? error
    })
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    const receipt = this.receipts.leaving(message)
    try {
      await super.send(message)
    } catch (error) {
      if (receipt?.state === 'sent' && wasRefused(error)) receipt.state = 'waiting'
      throw error
    }
  }

  override async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await super.close()
  }
}

/** The transport's own error does not tell with what status a request was turned away. */
function fetchOrRefuse(fetch: FetchLike, failure: { error?: unknown }): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init).catch((error) => {
      failure.error = error
      throw error
    })
    const { status, statusText } = response
    if (init?.method !== 'POST' || !isRefusal(status)) return response
    await response.body?.cancel()
    const message = `the server turned the request away with ${status} ${statusText}`
    throw new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, message, { status, statusText })
  }
}
