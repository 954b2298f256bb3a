/** A server behind an address in the oldest manner: answers come over one stream of events, requests go beside it. */
import {
  type JSONRPCMessage,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
} from '@modelcontextprotocol/client'
import { Receipts } from './receipts.ts'
import { isRefusal, wasRefused } from './refused.ts'

export class SseWire extends SSEClientTransport {
  readonly receipts = new Receipts()
  /** The stream is one. */
  readonly hasSession = true
  #isClosed = false

  constructor(url: string, headers: Record<string, string>) {
    super(new URL(url), { requestInit: { headers }, fetch: fetchOrRefuse })
    this.onmessage = (message) => this.receipts.arrived(message)
    // By itself it would open another stream, in which nobody has begun a conversation.
    this.onerror = (error) => void (error instanceof SseError && this.close())
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
async function fetchOrRefuse(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  const { status, statusText } = response
  if (init?.method !== 'POST' || !isRefusal(status)) return response
  await response.body?.cancel()
  const message = `the server turned the request away with ${status} ${statusText}`
  throw new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, message, { status, statusText })
}
