/** Ends an HTTP server: open answers may finish, within a limit; a connection that only might ask something is not waited for. */
import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'

export async function closeServer(server: Server, openResponses: Set<ServerResponse>, msMax: number): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  const late = AbortSignal.timeout(msMax)
  await Promise.all([...openResponses].map((response) => once(response, 'close', { signal: late }).catch(() => {})))
  server.closeAllConnections()
  await closed
}
