/**
 * Ends an HTTP server: open answers may finish, until it is late; a request that is still on its
 * way, or only might come, is not waited for.
 */
import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'

export async function closeServer(
  server: Server,
  openResponses: Set<ServerResponse>,
  late: AbortSignal,
): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  await whenClosed(
    [...openResponses].filter(({ req }) => req.complete),
    late,
  )
  server.closeAllConnections()
  await closed
}

/** When all of these were given, or it is late. */
export async function whenClosed(responses: ServerResponse[], late: AbortSignal): Promise<void> {
  await Promise.all(responses.map((response) => once(response, 'close', { signal: late }).catch(() => {})))
}
