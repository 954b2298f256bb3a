/** The door over HTTP: listens on loopback, guards every request, and sends it to MCP or to the read-only API. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AppError, limits, toAppError } from '#model'
import { openApi } from './api.ts'
import { bears, tokenMissing } from './bearer.ts'
import { closeServer } from './close.ts'
import { checkLoopback, refusal } from './guard.ts'
import { type McpEndpoint, openMcpEndpoint } from './mcp.ts'
import { headersOfAll, sendError } from './reply.ts'
import type { Verbs } from './verbs.ts'

type Options = {
  verbs: Verbs
  host: string
  port: number
  version: string
  log: (line: string) => void
  /** Without it nothing is answered but /healthz; null where none is asked for. */
  bearer?: string | null
}

export type HttpDoor = {
  url: string
  /** Made anew at every start; what changes something over HTTP needs it. */
  token: string
  close(): Promise<void>
}

export async function serveHttp({ verbs, host, port, version, log, bearer = null }: Options): Promise<HttpDoor> {
  checkLoopback(host)
  const server = createServer({ requestTimeout: limits.httpRequestMsMax, headersTimeout: limits.httpRequestMsMax })
  server.maxConnections = limits.httpConnectionsMax
  await listen(server, host, port)
  const url = urlOf(server, host)
  const stop = new AbortController()
  const mcp = openMcpEndpoint(verbs, version, log)
  const api = openApi({ verbs, version, url, stop: stop.signal })
  const answer = answerer({ api, mcp, bearer, stop: stop.signal })
  const openResponses = new Set<ServerResponse>()
  server.on('error', (error) => log(`http: ${error.message}`))
  server.on('request', (request, response) => {
    openResponses.add(response)
    response.once('close', () => openResponses.delete(response))
    answer(request, response).catch((thrown) => {
      log(`http: ${request.method} ${pathOf(request)}: ${toAppError(thrown)}`)
      if (response.headersSent) response.destroy()
      else sendError(response, toAppError(thrown))
    })
  })
  const close = async () => {
    if (stop.signal.aborted) return
    stop.abort()
    await Promise.all([mcp.close(), closeServer(server, openResponses, limits.httpStopMsMax)])
  }
  return { url, token: randomBytes(32).toString('base64url'), close }
}

type Behind = { api: ReturnType<typeof openApi>; mcp: McpEndpoint; bearer: string | null; stop: AbortSignal }

/** Nobody foreign gets further than the first lines, whatever they ask for. */
function answerer({ api, mcp, bearer, stop }: Behind) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    for (const [name, value] of Object.entries(headersOfAll)) response.setHeader(name, value)
    const refused = refusal(request.headers)
    if (refused) return sendError(response, refused)
    const path = pathOf(request)
    if (bearer !== null && path !== '/healthz' && !bears(request.headers, bearer)) {
      response.setHeader('www-authenticate', 'Bearer')
      return sendError(response, tokenMissing(), 401)
    }
    const get = api(path)
    const methods = path === '/mcp' ? ['GET', 'POST', 'DELETE'] : get ? ['GET'] : []
    if (methods.length === 0) return sendError(response, missing(path), 404)
    if (!methods.includes(request.method ?? '')) {
      response.setHeader('allow', methods.join(', '))
      return sendError(response, notAllowed(path, methods), 405)
    }
    if (stop.aborted) return sendError(response, stopping(), 503)
    await (get ?? mcp.serve)(request, response)
  }
}

/** Without the query, and not too long to be shown. */
function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0]!.slice(0, limits.previewCharactersMax)
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
    const why = taken ? 'the port is taken; stop who has it, or choose another with --port' : (error as Error).message
    throw new AppError('CONFIG_INVALID', `Cannot listen on ${host}:${port}: ${why}`, { host, port }, error)
  }
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function missing(path: string): AppError {
  const details = 'there is nothing; MCP is at /mcp'
  return new AppError('INVALID_INPUT_PARAM', `Cannot answer at "${path}": ${details}`, { param: 'path', details })
}

function notAllowed(path: string, methods: string[]): AppError {
  const details = `only ${methods.join(', ')} is answered here`
  return new AppError('INVALID_INPUT_PARAM', `Cannot answer at "${path}": ${details}`, { param: 'method', details })
}

function stopping(): AppError {
  return new AppError('UPSTREAM_UNREACHABLE', 'Cannot answer: the gateway is stopping; try again when it is back')
}
