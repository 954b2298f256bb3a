/**
 * How often each client may ask: a bucket that fills evenly, so that a burst is fine and a flood is
 * not.
 */
import type { ServerResponse } from 'node:http'
import { isIPv6 } from 'node:net'
import type { JSONRPCErrorResponse } from '@modelcontextprotocol/server'
import { AppError, isObject, LruCache, limits } from '#model'
import { requestIdOf, sendJson } from './reply.ts'

export type RateLimit = {
  /** Seconds until there is room again; 0 where there was room, and it is taken. */
  take(client: string, count?: number): number
}

type Bucket = { left: number; at: number }

/** Full, a bucket holds what may be asked in a minute. */
export function openRateLimit(perMinute: number, now: () => number = Date.now): RateLimit {
  /**
   * The client that was not seen for longest has the fullest bucket: forgetting it gives the least
   * away.
   */
  const buckets = new LruCache<string, Bucket>(limits.rateClientsMax)
  return {
    take(client, count = 1) {
      const at = now()
      const { left, at: before } = buckets.get(client) ?? { left: perMinute, at }
      const filled = Math.min(perMinute, left + ((at - before) * perMinute) / 60_000)
      const room = filled >= Math.min(count, perMinute)
      buckets.set(client, { left: room ? filled - Math.min(count, perMinute) : filled, at })
      return room ? 0 : Math.ceil(((Math.min(count, perMinute) - filled) * 60) / perMinute)
    },
  }
}

/** One client by its address; an IPv6 client usually owns its whole /64, so that counts as one. */
export function clientOfAddress(address = ''): string {
  const plain = address.replace(/^::ffff:/, '')
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const parts = head.split(':').filter(Boolean)
  const rest = (tail ?? '').split(':').filter(Boolean)
  const whole = tail === undefined ? parts : [...parts, ...Array(8 - parts.length - rest.length).fill('0'), ...rest]
  return `${whole.slice(0, 4).join(':')}::/64`
}

export function tooManyRequests(seconds: number): AppError {
  const message = `Cannot answer: too many requests; try again in ${seconds} s`
  return new AppError('BUDGET_EXCEEDED', message, { retryAfterSeconds: seconds })
}

/**
 * How many messages of a request start something: every call of a tool, except those that only
 * look. Read from the body, which is what counts.
 */
export function countStartingCalls(body: unknown): number {
  const messages = Array.isArray(body) ? body : [body]
  return messages.filter((message) => {
    if (!isObject(message) || message.method !== 'tools/call') return false
    const name = isObject(message.params) ? message.params.name : undefined
    return name !== 'discover' && name !== 'result'
  }).length
}

/** In the words of HTTP and of JSON-RPC at once. */
export function sendTooManyRequests(response: ServerResponse, seconds: number, body: unknown): void {
  response.setHeader('retry-after', seconds)
  sendJson(response, tooManyRequestsReply(seconds, body), 429)
}

const serverError = -32000

/** To the request in a message. */
export function tooManyRequestsReply(seconds: number, message: unknown): JSONRPCErrorResponse {
  const { message: text, context: data } = tooManyRequests(seconds)
  return {
    jsonrpc: '2.0',
    id: requestIdOf(message),
    error: { code: serverError, message: text, data },
  } as JSONRPCErrorResponse
}
