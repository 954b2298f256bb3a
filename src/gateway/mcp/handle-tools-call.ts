/** How a server of ours takes tools/call, the one request that comes all day. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { isObject, type JsonObject } from '#model'

export type ProtocolEra = 'legacy' | 'modern'

type Call = { name: string; arguments?: JsonObject; _meta?: JsonObject }

/**
 * In the legacy era the library would judge a call by schema twice on its way in, and what we
 * answer once on its way out: that takes longer than all that we do with it. There we look
 * ourselves at what we rely on. In the modern era it does more than that, and is let.
 */
export function handleToolsCall(
  server: Server,
  era: ProtocolEra,
  handle: (params: Call, context: ServerContext) => Promise<object>,
): void {
  const typedHandle = handle as (params: Call, context: ServerContext) => Promise<Result>
  if (era === 'modern') {
    server.setRequestHandler('tools/call', ({ params }, context) => typedHandle(params as Call, context) as never)
    return
  }
  server.fallbackRequestHandler = async ({ method, params }, context) => {
    if (method !== 'tools/call') throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found')
    return typedHandle(parseCall(params), context)
  }
}

function parseCall(params: unknown): Call {
  const { name, arguments: input } = isObject(params) ? params : {}
  if (typeof name !== 'string') throw invalid('"name" is not a text')
  if (input !== undefined && !isObject(input)) throw invalid('"arguments" is not an object')
  return params as Call
}

function invalid(problem: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Cannot read the tools/call: ${problem}`)
}
