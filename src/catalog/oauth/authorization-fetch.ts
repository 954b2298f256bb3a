/**
 * How we ask authorization servers: over TLS unless all of it is on this machine, within limits,
 * and without carrying a secret elsewhere.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import { AppError, limits } from '#model'

const hopsMax = 3

/**
 * Only a server on this machine may send us to others on this machine, and only there may a line be
 * open.
 */
export function authorizationFetch(server: string): FetchLike {
  const atHome = isLoopback(new URL(server))
  return async (input, init = {}) => {
    let url = new URL(String(input))
    for (let hops = 0; ; hops++) {
      check(url, atHome)
      const signal = AbortSignal.any([
        AbortSignal.timeout(limits.oauthRequestMsMax),
        ...(init.signal ? [init.signal] : []),
      ])
      const response = await fetch(url, { ...init, redirect: 'manual', signal })
      const onward = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
      if (onward === null) return bounded(response)
      await response.body?.cancel()
      // What is posted holds codes, tokens and secrets: they are for this address alone.
      if ((init.method ?? 'GET') !== 'GET' || hops >= hopsMax) throw refused(url, 'it sends us elsewhere')
      url = new URL(onward, url)
    }
  }
}

function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\]|.*\.localhost)$/.test(hostname)
}

function check(url: URL, atHome: boolean): void {
  if (isLoopback(url) && !atHome) throw refused(url, 'a server elsewhere has no business on this machine')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url))) throw refused(url, 'it is not https')
}

async function bounded(response: Response): Promise<Response> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > limits.oauthAnswerBytesMax) throw refused(new URL(response.url), 'it answers with too much')
    chunks.push(chunk)
  }
  const { status, statusText, headers } = response
  const empty = status === 204 || status === 205 || status === 304
  return new Response(empty ? null : Buffer.concat(chunks), { status, statusText, headers })
}

function refused({ origin, pathname }: URL, why: string): AppError {
  const address = `${origin}${pathname}`
  return new AppError('PERMISSION_DENIED', `Cannot ask the authorization server at ${address}: ${why}`, { address })
}
