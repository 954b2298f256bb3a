/**
 * An endpoint of MCP: tells the two protocol eras apart, legacy with sessions, modern
 * without.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import {
  classifyInboundRequest,
  createMcpHandler,
  type Server,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import type { AuthenticatedRequest } from '#gateway/auth'
import {
  countStartingCalls,
  type RateLimit,
  readBody,
  requestIdOf,
  sendRpcError,
  sendTooManyRequests,
  statusOf,
  whenClosed,
} from '#gateway/http'
import { type AppError, isObject, type JsonObject, limits, toAppError } from '#model'
import { paramMismatch } from './param-headers.ts'
import { openSessions } from './sessions.ts'

export type McpEndpoint = {
  serve(request: AuthenticatedRequest, response: ServerResponse): Promise<void>
  /** Settled when every call under way was answered, or when it is late. */
  answered(late: AbortSignal): Promise<void>
  close(): Promise<void>
}

/**
 * What stands behind an endpoint: a server for each session of the legacy era, one for each request
 * of the modern era.
 */
export type McpServers = {
  forSession(): Server | Promise<Server>
  forRequest(): Server | Promise<Server>
  /**
   * Fails where the server behind the endpoint cannot be reached: `initialize` would otherwise
   * describe an empty server.
   */
  ready?(): Promise<unknown>
  /** The schema of what a tool takes; undefined where it is not known. */
  inputSchema?(tool: string): Promise<JsonObject | undefined>
  /** What has changed, for those who listen. */
  bus?: ServerEventBus
  /** A client begins to listen; resolves to the function that ends it. */
  onListen?(params: JsonObject): Promise<() => Promise<void>>
  close?(): Promise<void>
}

/** `executes` says how often each client may start something. */
export function openMcpEndpoint(servers: McpServers, log: (line: string) => void, executes: RateLimit): McpEndpoint {
  const onerror = ({ message }: Error) => log(`mcp: ${message.slice(0, limits.previewCharactersMax)}`)
  const sessions = openSessions(servers.forSession, log)
  const { bus } = servers
  const modern = createMcpHandler(servers.forRequest, { legacy: 'reject', onerror, ...(bus && { bus }) })
  const serveModern = toNodeHandler(modern, { onerror })
  const open = new Set<ServerResponse>()

  const serve: McpEndpoint['serve'] = async (request, response) => {
    if (request.method !== 'POST') return sessions.serve(request, response, undefined)
    const body = await readBody(request)
    if (!body.ok) return sendRpcError(response, body.status, body.code, body.message)
    if (isCall(body.value)) {
      open.add(response)
      response.once('close', () => open.delete(response))
    }
    const calls = countStartingCalls(body.value)
    const seconds = calls === 0 ? 0 : executes.take(request.auth?.clientId ?? '', calls)
    if (seconds > 0) return sendTooManyRequests(response, seconds, body.value)
    const { kind } = classifyInboundRequest(inboundOf(request, body.value))
    if (kind === 'legacy') return sessions.serve(request, response, body.value)
    const mismatch = kind === 'modern' ? await headerProblem(request, body.value, servers.inputSchema) : null
    if (mismatch !== null) return sendRpcError(response, 400, headerMismatch, mismatch, requestIdOf(body.value))
    const missing = isObject(body.value) && body.value.method === 'server/discover' ? await unreadyError(servers) : null
    if (missing !== null)
      return sendRpcError(response, statusOf(missing), internalError, missing.message, requestIdOf(body.value))
    if (servers.onListen && isListenRequest(body.value))
      listenWhileOpen(servers.onListen, body.value.params, response, onerror)
    await serveModern(request as NodeIncomingMessageLike, response, body.value)
  }
  const close = async () => {
    await Promise.all([sessions.close(), modern.close(), servers.close?.()])
  }
  return { serve, answered: (late) => whenClosed([...open], late), close }
}

/**
 * Heard until the answer is closed; the stream is opened at once, whether there is something to
 * hear yet or not.
 */
function listenWhileOpen(
  listened: NonNullable<McpServers['onListen']>,
  params: JsonObject,
  response: ServerResponse,
  onerror: (error: Error) => void,
): void {
  const ending = listened(params)
  ending.catch(onerror)
  response.once('close', () => void ending.then((end) => end()).catch(() => {}))
}

export function isListenRequest(body: unknown): body is { params: JsonObject } {
  return isObject(body) && body.method === 'subscriptions/listen' && isObject(body.params)
}

function isCall(body: unknown): boolean {
  return [body].flat().some((message) => isObject(message) && message.method === 'tools/call')
}

const headerMismatch = -32020
const internalError = -32603

async function unreadyError({ ready }: McpServers): Promise<AppError | null> {
  return (ready?.() ?? Promise.resolve()).then(() => null, toAppError)
}

async function headerProblem(
  request: IncomingMessage,
  body: unknown,
  takes: McpServers['inputSchema'],
): Promise<string | null> {
  if (takes === undefined || !isObject(body) || body.method !== 'tools/call' || !isObject(body.params)) return null
  const schema = await takes(String(body.params.name))
  const why = schema === undefined ? null : paramMismatch(schema, body.params.arguments, request.headers)
  return why === null ? null : `Cannot answer: ${why}; send both alike`
}

function inboundOf({ method = 'GET', headers }: IncomingMessage, body: unknown) {
  const header = (name: string) => [headers[name]].flat()[0]
  const version = header('mcp-protocol-version')
  const called = header('mcp-method')
  const name = header('mcp-name')
  return {
    httpMethod: method,
    body,
    ...(version !== undefined && { protocolVersionHeader: version }),
    ...(called !== undefined && { mcpMethodHeader: called }),
    ...(name !== undefined && { mcpNameHeader: name }),
  }
}
