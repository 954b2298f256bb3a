/** A server behind an address: streamable HTTP, with the headers of the configuration. */
import { type FetchLike, type JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { limits } from '#model'
import { Receipts } from './receipts.ts'
import { wasRefused } from './refused.ts'

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>

export class HttpWire extends StreamableHTTPClientTransport {
  readonly receipts = new Receipts()

  constructor(url: string, headers: Record<string, string>, fetch: FetchLike) {
    super(new URL(url), { requestInit: { headers }, fetch })
    this.onmessage = (message) => this.receipts.arrived(message)
  }

  get hasSession(): boolean {
    return this.sessionId !== undefined
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options: SendOptions = {}): Promise<void> {
    const receipt = Array.isArray(message) ? null : this.receipts.leaving(message)
    try {
      await super.send(message, { ...options, onRequestStreamEnd: () => receipt?.lost() })
    } catch (error) {
      if (receipt?.state === 'sent' && wasRefused(error)) receipt.state = 'waiting'
      throw error
    }
  }

  /** Tells the server that its session is over, where there is one, without waiting long for it. */
  override async close(): Promise<void> {
    const waited = new Promise((resolve) => setTimeout(resolve, limits.upstreamEndOfInputMsMax).unref())
    await Promise.race([this.terminateSession().catch(() => {}), waited])
    await super.close()
  }
}
