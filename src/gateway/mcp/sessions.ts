/**
 * The sessions of the legacy era: one server each, the least recently used idle one gives
 * way to a new one.
 */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { isInitializeRequest, type Server } from '@modelcontextprotocol/server'
import type { AuthenticatedRequest } from '#gateway/auth'
import { sendRpcError } from '#gateway/http'
import { isObject, limits } from '#model'

/** `owner` opened it: for every other caller it does not exist. */
type Session = {
  transport: NodeStreamableHTTPServerTransport
  openResponses: number
  owner: string | undefined
  /**
   * The ids of the requests under way, each with how many share its stream: an answer finds its
   * request by nothing else.
   */
  ids: Map<string, number>
}

const invalidRequest = -32600

type Sessions = {
  serve(request: AuthenticatedRequest, response: ServerResponse, body: unknown): Promise<void>
  close(): Promise<void>
}

export function openSessions(
  newServer: () => Server | Promise<Server>,
  log: (line: string) => void,
  sessionsMax: number = limits.httpSessionsMax,
): Sessions {
  /** In the order of their last use. */
  const sessions = new Map<string, Session>()

  const find = (id: string): Session | undefined => {
    const session = sessions.get(id)
    if (session && sessions.delete(id)) sessions.set(id, session)
    return session
  }

  const makeRoom = async (): Promise<boolean> => {
    if (sessions.size < sessionsMax) return true
    const idle = [...sessions.values()].find(({ openResponses }) => openResponses === 0)
    await idle?.transport.close()
    return idle !== undefined
  }

  const open = async (owner: string | undefined): Promise<Session> => {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
    })
    const session: Session = { transport, openResponses: 0, owner, ids: new Map() }
    transport.onclose = () => void (transport.sessionId && sessions.delete(transport.sessionId))
    transport.onerror = ({ message }) => log(`mcp: ${message.slice(0, limits.previewCharactersMax)}`)
    await (await newServer()).connect(transport)
    return session
  }

  const serve: Sessions['serve'] = async (request, response, body) => {
    const id = request.headers['mcp-session-id']
    if (id === undefined && !isInitializeRequest(body)) {
      return sendRpcError(response, 400, invalidRequest, 'Cannot answer: there is no session; begin with initialize')
    }
    if (id === undefined && !(await makeRoom())) {
      return sendRpcError(response, 503, invalidRequest, 'Cannot open a session: every one is in use; try again later')
    }
    const owner = ownerOf(request)
    const session = typeof id === 'string' ? find(id) : await open(owner)
    if (!session || session.owner !== owner) {
      return sendRpcError(response, 404, invalidRequest, 'Cannot find the session: it has ended; begin with initialize')
    }
    const ids = idsIn(body)
    if (new Set(ids).size < ids.length || ids.some((id) => session.ids.has(id))) {
      return sendRpcError(
        response,
        400,
        invalidRequest,
        'Cannot answer: another request of this session has the same id',
      )
    }
    for (const id of ids) session.ids.set(id, ids.length)
    session.openResponses++
    response.once('close', () => {
      session.openResponses--
      for (const id of ids) session.ids.delete(id)
    })
    await session.transport.handleRequest(request, response, body)
    // A cancelled request gets no answer, and nothing else would end its stream.
    for (const id of cancelledIn(body))
      if (session.ids.get(JSON.stringify(id)) === 1) session.transport.closeSSEStream(id)
  }

  const close = async () => {
    await Promise.all([...sessions.values()].map(({ transport }) => transport.close()))
  }
  return { serve, close }
}

function cancelledIn(body: unknown): (string | number)[] {
  const { method, params } = isObject(body) ? body : {}
  const id = method === 'notifications/cancelled' && isObject(params) ? params.requestId : undefined
  return typeof id === 'string' || typeof id === 'number' ? [id] : []
}

/** Of the requests in a body; a number and the same text are two ids. */
function idsIn(body: unknown): string[] {
  const messages = Array.isArray(body) ? body : [body]
  return messages.flatMap((message) =>
    isObject(message) && 'method' in message && message.id !== undefined ? [JSON.stringify(message.id)] : [],
  )
}

/** Where people are told apart, a session is one person's. */
function ownerOf({ auth }: AuthenticatedRequest): string | undefined {
  return typeof auth?.extra?.subject === 'string' ? auth.extra.subject : undefined
}
