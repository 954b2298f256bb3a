/**
 * Who may speak to the gateway at all: where it listens beyond loopback, and under which names no
 * foreign page can come in.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isIPv4 } from 'node:net'
import { AppError, type Config } from '#model'

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/**
 * CONFIG_INVALID where the gateway would stand open to a network, or where we could not tell a
 * foreign name from ours.
 */
export function checkExposure({ host, auth, url }: Pick<Config['http'], 'host' | 'auth' | 'url'>): void {
  if (isLoopback(host)) return
  const refuse = (why: string) => {
    throw new AppError('CONFIG_INVALID', `Cannot listen on "${host}": it is not a loopback address, and ${why}`, {
      host,
    })
  }
  if (auth === 'none')
    refuse('without authentication the gateway opens on loopback only; use 127.0.0.1, or set "http.auth"')
  if (url === null) refuse('nobody knows by which name it is reached; set "http.url" to its address as clients see it')
  if (!url?.startsWith('https:'))
    refuse('"http.url" is not https, so tokens would travel in the clear; put a TLS proxy before it')
}

/**
 * Why a request is refused before anything else is looked at; null where it may pass. A page that
 * rebinds its own name to our address still sends that name as the host, and a page of another port
 * still sends its own origin. Programs send no origin. `url` is where we are for those beyond this
 * machine.
 */
export function hostRefusal({ host, origin }: IncomingHttpHeaders, url: string | null): AppError | null {
  const named = url === null ? null : new URL(url)
  const name = /^(?:\[([0-9a-f:]+)\]|([^:[\]]+))(?::\d+)?$/i.exec(host ?? '')
  const ours = name !== null && isLoopback((name[1] ?? name[2]!).toLowerCase())
  if (!ours && (named === null || host?.toLowerCase() !== named.host)) {
    return new AppError('PERMISSION_DENIED', 'Cannot answer: the Host is not this machine; ask for it by 127.0.0.1')
  }
  const origins = [`http://${host?.toLowerCase()}`, ...(named === null ? [] : [named.origin])]
  if (origin !== undefined && !origins.includes(origin.toLowerCase())) {
    return new AppError('PERMISSION_DENIED', 'Cannot answer: the Origin is a foreign page')
  }
  return null
}

/** With two of these, a proxy could judge by one, and we by the other. */
export function repeatedHeader(headers: NodeJS.Dict<string[]>): AppError | null {
  const name = ['host', 'origin', 'authorization'].find((header) => (headers[header]?.length ?? 0) > 1)
  if (name === undefined) return null
  const details = 'must be sent once'
  return new AppError('INVALID_INPUT_PARAM', `Cannot answer: the header "${name}" ${details}`, { param: name, details })
}
