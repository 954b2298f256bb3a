/** Tells requests over a network that surely had no effect from those whose effect is unknown. */
import { SdkHttpError } from '@modelcontextprotocol/client'
import { AppError } from '#model'

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

/**
 * Statuses with which a server turns a request away before it looks at the call: no session, no
 * right, not now.
 */
const refusals = new Set([400, 401, 403, 404, 405, 406, 413, 415, 429])

export function isRefusal(status: number | undefined): boolean {
  return refusals.has(status ?? 0)
}

export function wasRefused(error: unknown): boolean {
  // Ours: there was no token to send it with, or the server refused the one it came with.
  if (error instanceof AppError) return true
  if (error instanceof SdkHttpError) return isRefusal(error.status)
  const cause = (error as { cause?: { code?: unknown } } | null)?.cause
  return typeof cause?.code === 'string' && (connectErrors.has(cause.code) || cause.code.startsWith('ERR_TLS_'))
}

/**
 * After a restart a server does not know our session: by the protocol it says 404, and many say
 * 400.
 */
export function isSessionLost({ hasSession }: { hasSession: boolean }, error: unknown): boolean {
  return hasSession && error instanceof SdkHttpError && (error.status === 404 || error.status === 400)
}
