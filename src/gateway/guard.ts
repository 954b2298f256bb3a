/** Who may speak to the door at all: it listens on loopback only, and only under a name that no foreign page can claim. */
import type { IncomingHttpHeaders } from 'node:http'
import { isIPv4 } from 'node:net'
import { AppError } from '#model'

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/** CONFIG_INVALID where the door would stand open to a network. */
export function checkLoopback(host: string): void {
  if (isLoopback(host)) return
  const why = 'it is not a loopback address, and without authentication the door opens on loopback only'
  throw new AppError('CONFIG_INVALID', `Cannot listen on "${host}": ${why}; use 127.0.0.1`, { host })
}

/**
 * Why a request is refused before anything else is looked at; null where it may pass. A page that rebinds its own name
 * to our address still sends that name as the host, and a page of another port still sends its own origin. Programs send
 * no origin.
 */
export function refusal({ host, origin }: IncomingHttpHeaders): AppError | null {
  const name = /^(?:\[([0-9a-f:]+)\]|([^:[\]]+))(?::\d+)?$/i.exec(host ?? '')
  if (!name || !isLoopback((name[1] ?? name[2]!).toLowerCase())) {
    return new AppError('PERMISSION_DENIED', 'Cannot answer: the Host is not this machine; ask for it by 127.0.0.1')
  }
  if (origin !== undefined && origin.toLowerCase() !== `http://${host!.toLowerCase()}`) {
    return new AppError('PERMISSION_DENIED', 'Cannot answer: the Origin is a foreign page')
  }
  return null
}
