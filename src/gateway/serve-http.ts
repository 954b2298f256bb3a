/** The gateway over HTTP: guards every request, and sends it to MCP or to the API. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openApi } from '#gateway/api'
import {
  type AuthenticatedRequest,
  type Authentication,
  checkExposure,
  hostRefusal,
  metadataPath,
  newStartToken,
  openAuthentication,
  repeatedHeader,
  type StartToken,
} from '#gateway/auth'
import { openForms, readFormKey } from '#gateway/elicitation'
import {
  clientOfAddress,
  closeServer,
  openRateLimit,
  type RateLimit,
  type Routes,
  securityHeaders,
  sendError,
  sendJson,
  tooManyRequests,
} from '#gateway/http'
import { AppError, builtInServer, type Config, limits, toAppError } from '#model'
import type { Verbs } from '#verbs'
import { type Endpoints, openEndpoints } from './endpoints.ts'

type HttpOptions = {
  verbs: Verbs
  host: string
  port: number
  version: string
  log: (line: string) => void
  /** Where the home's token is, for `auth: token`. */
  home?: string
  auth?: Config['http']['auth']
  /** From the first to the last byte of a request. */
  requestMsMax?: number
  /** The server that stands whole in place of the surface. */
  passthrough?: string
} & Partial<Pick<Config['http'], 'url' | 'issuer' | 'audience' | 'scope' | 'rate'>>

export type HttpGateway = {
  url: string
  /** New at every start; what changes something over HTTP needs it. */
  token: string
  close(): Promise<void>
}

export async function serveHttp(options: HttpOptions): Promise<HttpGateway> {
  const { verbs, host, version, log } = options
  const http: HttpOptions & HttpDefaults = { ...defaults, ...options }
  checkExposure(http)
  const server = createServer({
    requestTimeout: http.requestMsMax,
    headersTimeout: http.requestMsMax,
    connectionsCheckingInterval: Math.min(limits.httpCheckMs, http.requestMsMax),
    keepAlive: true,
    keepAliveInitialDelay: limits.httpSilentMs,
  })
  server.maxConnections = limits.httpConnectionsMax
  await listen(server, host, options.port)
  const url = urlOf(server, host)
  const stop = new AbortController()
  const executes = openRateLimit(http.rate.executes)
  const mcp = openEndpoints({ ...options, executes, forms: openForms(readFormKey(http.home)) })
  const token = newStartToken(http.url ?? url)
  const api = openApi({ verbs, version, url, token, stop: stop.signal })
  const authentication = openAuthentication({ http, home: http.home }, http.url ?? url, log)
  const requests = openRateLimit(http.rate.requests)
  const answer = requestHandler({ api, mcp, authentication, requests, token, url: http.url, stop: stop.signal })
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
    await mcp.answered(AbortSignal.timeout(limits.httpAnswersMsMax))
    await Promise.all([mcp.close(), closeServer(server, openResponses, AbortSignal.timeout(limits.httpStopMsMax))])
  }
  return { url, token: token.value, close }
}

type HttpDefaults = Required<
  Pick<HttpOptions, 'home' | 'auth' | 'url' | 'issuer' | 'audience' | 'scope' | 'rate' | 'requestMsMax'>
>

const defaults: HttpDefaults = {
  ...{ home: '', auth: 'none', url: null, issuer: null, audience: null, scope: '' },
  rate: { requests: limits.httpRequestsPerMinuteDefault, executes: limits.httpExecutesPerMinuteDefault },
  requestMsMax: limits.httpRequestMsMax,
}

type HandlerParts = {
  api: ReturnType<typeof openApi>
  mcp: Endpoints
  authentication: Authentication
  requests: RateLimit
  token: StartToken
  url: string | null
  stop: AbortSignal
}

/** The checks come first: a foreign request gets no further. */
function requestHandler({ api, mcp, authentication, requests, token, url, stop }: HandlerParts) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value)
    const repeated = repeatedHeader(request.headersDistinct)
    if (repeated) return sendError(response, repeated, 400)
    const refused = hostRefusal(request.headers, url)
    if (refused) return sendError(response, refused)
    const path = pathOf(request)
    const { metadata } = authentication
    if (metadata !== null && (path === metadataPath || path.startsWith(`${metadataPath}/mcp`)))
      return sendJson(response, metadata)
    const isMcp = path === '/mcp' || path.startsWith('/mcp/')
    const isKnown = path === '/healthz' || (!isMcp && token.isInRequest(request))
    if (!isKnown && !(await isAdmitted(request, response, authentication, requests))) return
    const serve = isMcp ? mcp.at(path)?.serve : undefined
    const routes: Routes | null = serve ? { GET: serve, POST: serve, DELETE: serve } : api(path)
    if (routes === null) return sendError(response, notFound(path), 404)
    const methods = Object.keys(routes)
    if (!methods.includes(request.method ?? '')) {
      response.setHeader('allow', methods.join(', '))
      return sendError(response, notAllowed(path, methods), 405)
    }
    if (stop.aborted) return sendError(response, stopping(), 503)
    await routes[request.method!]!(request, response)
  }
}

/**
 * False where the answer was given here: an unknown client, or one over its rate, gets nothing
 * else.
 */
async function isAdmitted(
  request: AuthenticatedRequest,
  response: ServerResponse,
  { judge }: Authentication,
  requests: RateLimit,
): Promise<boolean> {
  const verdict = await judge(request.headers)
  const client =
    verdict.ok && verdict.subject !== null
      ? `subject ${verdict.subject}`
      : clientOfAddress(request.socket.remoteAddress)
  const seconds = requests.take(client)
  if (seconds > 0) {
    response.setHeader('retry-after', seconds)
    sendError(response, tooManyRequests(seconds), 429)
    return false
  }
  if (!verdict.ok) {
    response.setHeader('www-authenticate', verdict.challenge)
    sendError(response, verdict.error, verdict.status)
    return false
  }
  // The token itself goes no further: nothing behind the gateway could pass it on.
  request.auth = {
    token: '',
    clientId: client,
    scopes: [],
    ...(verdict.subject === null ? {} : { extra: { subject: verdict.subject } }),
  }
  delete request.headers.authorization
  return true
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

function notFound(path: string): AppError {
  const isBuiltIn = path === `/mcp/${builtInServer}`
  const details = isBuiltIn
    ? `the tools of "${builtInServer}" run in this process and have no MCP of their own; they are behind /mcp`
    : 'there is nothing; MCP is at /mcp'
  return new AppError('INVALID_INPUT_PARAM', `Cannot answer at "${path}": ${details}`, { param: 'path', details })
}

function notAllowed(path: string, methods: string[]): AppError {
  const details = `only ${methods.join(', ')} is answered here`
  return new AppError('INVALID_INPUT_PARAM', `Cannot answer at "${path}": ${details}`, { param: 'method', details })
}

function stopping(): AppError {
  return new AppError('UPSTREAM_UNREACHABLE', 'Cannot answer: the gateway is stopping; try again when it is back')
}
