/** A server behind an address: streamable HTTP, with the headers of the configuration. */
import { type JSONRPCMessage, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { limits } from '#model'
import { Receipts } from './receipts.ts'

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>

export class HttpWire extends StreamableHTTPClientTransport {
  readonly receipts = new Receipts()

  constructor(url: string, headers: Record<string, string>) {
    super(new URL(url), { requestInit: { headers } })
    this.onmessage = (message) => this.receipts.arrived(message)
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

/** Errors of a connection that never came to be: the request did not leave us. */
const connectErrors = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Statuses with which a server turns a request away before it looks at the call: no session, no right, not now. */
const refusals = new Set([400, 401, 403, 404, 405, 406, 413, 415, 429])

/** After a restart a server does not know our session: by the protocol it says 404, and many say 400. */
export function hasForgotten(wire: unknown, error: unknown): boolean {
  if (!(error instanceof SdkHttpError) || !(wire instanceof HttpWire)) return false
  return wire.sessionId !== undefined && (error.status === 404 || error.status === 400)
}

function wasRefused(error: unknown): boolean {
  if (error instanceof SdkHttpError) return refusals.has(error.status ?? 0)
  const cause = (error as { cause?: { code?: unknown } } | null)?.cause
  return typeof cause?.code === 'string' && (connectErrors.has(cause.code) || cause.code.startsWith('ERR_TLS_'))
}
