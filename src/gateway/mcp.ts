/** The endpoint /mcp: tells the two protocol eras apart, the older with sessions, the newer without. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import { classifyInboundRequest, createMcpHandler } from '@modelcontextprotocol/server'
import { limits } from '#model'
import type { Known } from './authentication.ts'
import { readBody } from './body.ts'
import type { Forms } from './elicit.ts'
import { callsIn, type Rate, sendTooOften } from './rate.ts'
import { sendRpcError } from './reply.ts'
import { createMcpServer } from './server.ts'
import { openSessions } from './sessions.ts'
import type { Verbs } from './verbs.ts'

export type McpEndpoint = {
  serve(request: Known, response: ServerResponse): Promise<void>
  close(): Promise<void>
}

/** `executes` says how often each client may start something. */
export function openMcpEndpoint(
  verbs: Verbs,
  version: string,
  log: (line: string) => void,
  executes: Rate,
  forms: Forms,
): McpEndpoint {
  const newServer = () => createMcpServer(verbs, version, forms)
  const onerror = ({ message }: Error) => log(`mcp: ${message.slice(0, limits.previewCharactersMax)}`)
  const sessions = openSessions(newServer, log)
  const modern = createMcpHandler(newServer, { legacy: 'reject', onerror })
  const serveModern = toNodeHandler(modern, { onerror })

  const serve: McpEndpoint['serve'] = async (request, response) => {
    if (request.method !== 'POST') return sessions.serve(request, response, undefined)
    const body = await readBody(request)
    if (!body.ok) return sendRpcError(response, body.status, body.code, body.message)
    const calls = callsIn(body.value)
    const seconds = calls === 0 ? 0 : executes.take(request.auth?.clientId ?? '', calls)
    if (seconds > 0) return sendTooOften(response, seconds, body.value)
    const { kind } = classifyInboundRequest(inboundOf(request, body.value))
    if (kind === 'legacy') return sessions.serve(request, response, body.value)
    await serveModern(request as NodeIncomingMessageLike, response, body.value)
  }
  const close = async () => {
    await Promise.all([sessions.close(), modern.close()])
  }
  return { serve, close }
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
