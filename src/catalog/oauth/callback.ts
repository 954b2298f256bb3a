/**
 * Where a browser comes back to after a login: one path of this machine, which listens to nothing
 * but the answer it waits for.
 */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AppError, abortable, limits } from '#model'
import type { Authorize } from './flow.ts'

type CallbackOptions = {
  /** 0 takes any. */
  port: number
  /** Shows a person where to go. */
  show(url: URL, redirectUrl: string): void
  /**
   * The address that the browser was sent to, where a person pastes it because it could not come
   * here.
   */
  pasted?: Promise<string>
  signal: AbortSignal
}

export async function openCallback({
  port,
  show,
  pasted,
  signal,
}: CallbackOptions): Promise<Authorize & { close(): void }> {
  const { promise: answered, resolve } = Promise.withResolvers<URLSearchParams>()
  let state: string | null = null
  const server = createServer({ requestTimeout: limits.httpRequestMsMax }, (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (url.pathname !== '/callback' || state === null || url.searchParams.get('state') !== state)
      return say(response, 400, 'This is not the answer that is waited for.')
    say(response, 200, 'Métier has the answer. You may close this window and go back to the terminal.')
    resolve(url.searchParams)
  })
  await listen(server.listen(port, '127.0.0.1'), port)
  const redirectUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
  return {
    redirectUrl,
    ask(url) {
      state = url.searchParams.get('state')
      show(url, redirectUrl)
      const answers = pasted === undefined ? [answered] : [answered, pasted.then(paramsOf)]
      return abortable(Promise.race(answers), AbortSignal.any([signal, AbortSignal.timeout(limits.oauthLoginMsMax)]))
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function paramsOf(text: string): URLSearchParams {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null
  if (url === null) throw new Error('what was pasted is no address')
  return url.searchParams
}

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  try {
    await once(server, 'listening')
  } catch (error) {
    const message = `Cannot wait for the login on port ${port} of this machine: ${(error as Error).message}`
    throw new AppError('CONFIG_INVALID', `${message}. Free it, or choose another "redirectPort"`, { port }, error)
  }
}

function say(response: ServerResponse, status: number, text: string): void {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', connection: 'close' }
  response.writeHead(status, headers).end(`${text}\n`)
}
