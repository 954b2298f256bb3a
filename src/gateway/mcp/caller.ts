/**
 * Who sends a request, by what name it can be told from others, what may cancel it, and in which
 * trace it stands.
 */
import {
  type AuthInfo,
  CLIENT_INFO_META_KEY,
  SdkError,
  SdkErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { AppError, isObject, limits, parseTraceparent, sha256 } from '#model'
import type { Caller } from '#verbs'

/** What is called, and with what. */
type Called = { name?: unknown; arguments?: unknown }

export function callerOf({ mcpReq, http }: ServerContext, clientName: string | undefined, called: Called): Caller {
  const key = keyOf(mcpReq._meta, called)
  const traceparent = [mcpReq._meta?.traceparent, http?.req?.headers.get('traceparent')].find(parseTraceparent)
  return {
    actor: { kind: 'mcp', name: actorName(nameIn(mcpReq.envelope) ?? boundedName(clientName), http?.authInfo) },
    ...subjectOf(http?.authInfo),
    signal: cancelSignal(mcpReq.signal),
    ...(key !== undefined && { key }),
    ...(traceparent !== undefined && { traceparent: String(traceparent) }),
  }
}

/**
 * A signal that only the client's own word aborts. The SDK's signal also falls when the connection
 * goes, with an error of its own as the reason; a client can say no such thing, since its reasons
 * are strings. In the modern era over HTTP closing the stream is the only way to cancel and looks
 * like a lost connection: there a run goes on.
 */
export function cancelSignal(request: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const forward = () => {
    const { reason } = request
    if (SdkError.isInstance(reason) && reason.code === SdkErrorCode.ConnectionClosed) return
    controller.abort(new AppError('CANCELLED', 'Cannot finish the request: the client cancelled it'))
  }
  if (request.aborted) forward()
  else request.addEventListener('abort', forward, { once: true })
  return controller.signal
}

/**
 * A host that repeats a request after a lost answer repeats its tool-use id; some give an id again
 * to another request.
 */
function keyOf(meta: ServerContext['mcpReq']['_meta'], { name, arguments: input }: Called): string | undefined {
  const id = meta?.['claudecode/toolUseId']
  if (typeof id !== 'string' || id === '') return undefined
  const key = `${id} ${sha256(JSON.stringify([name, input])).slice(0, 32)}`
  return Buffer.byteLength(key) <= limits.runKeyBytesMax ? key : undefined
}

/** In the modern era every request says who sends it. */
function nameIn(envelope: unknown): string | null {
  const info = isObject(envelope) ? envelope[CLIENT_INFO_META_KEY] : null
  return isObject(info) && typeof info.name === 'string' ? boundedName(info.name) : null
}

/** Where people are told apart, the record says who it was. */
function actorName(client: string, auth: AuthInfo | undefined): string {
  const { subject } = subjectOf(auth)
  return subject === undefined ? client : `${subject} (${client})`
}

function subjectOf(auth: AuthInfo | undefined): { subject?: string } {
  const subject = auth?.extra?.subject
  return typeof subject === 'string' ? { subject } : {}
}

function boundedName(name = 'unknown'): string {
  return name.slice(0, limits.clientNameCharactersMax)
}
