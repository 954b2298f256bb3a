/** One tools/call: who calls, what may cancel it, and what the host reads of the answer or of the error. */
import {
  type AuthInfo,
  type CallToolRequest,
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { AppError, isObject, type JsonObject, limits, toAppError } from '#model'
import { askerOf, asking, FormNeeded, type Forms } from './elicit.ts'
import { callExposed } from './exposed.ts'
import type { Caller, Verbs } from './verbs.ts'

const verbNames = ['discover', 'execute', 'result'] as const

/** What a client of the older era said of itself when it connected. */
export type Client = { name: string | undefined; capabilities: unknown }

export async function callTool(
  verbs: Verbs,
  { name, arguments: input = {}, _meta }: CallToolRequest['params'],
  context: ServerContext,
  client: Client,
  forms: Forms,
): Promise<CallToolResult | InputRequiredResult> {
  const { mcpReq, http } = context
  const key = keyOf(_meta)
  const caller: Caller = {
    actor: { kind: 'mcp', name: actorName(nameIn(mcpReq.envelope) ?? boundedName(client.name), http?.authInfo) },
    signal: cancelSignal(mcpReq.signal),
    waitMs: limits.executeWaitMsDefault,
    ...(key !== undefined && { key }),
  }
  const verb = verbNames.find((known) => known === name)
  const asked = asking(verbs, forms, askerOf(forms, context, client.capabilities))
  try {
    if (verb !== undefined) return toolResult(await asked[verb](input, caller), false)
    const result = await callExposed(asked, name, input as JsonObject, caller)
    if (result !== null) return result
  } catch (thrown) {
    if (thrown instanceof FormNeeded) return thrown.result
    return toolResult({ error: JSON.parse(JSON.stringify(toAppError(thrown))) }, true)
  }
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(name))
}

/** The structured content is what the host's model reads; the text is the same for hosts that know no structure. */
function toolResult(answer: JsonObject, isError: boolean): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text: JSON.stringify(answer) }]
  return { content, structuredContent: answer, ...(isError && { isError }) }
}

function unknownTool(name: string): string {
  const shown = name.slice(0, limits.clientNameCharactersMax)
  return `Cannot call "${shown}": there is no such tool here; find it with discover and call it from a plan given to execute`
}

/**
 * A signal that only the client's own word aborts. The SDK's signal also falls when the connection goes, with an error of
 * its own as the reason; a client can say no such thing, since its reasons are strings. In the newer era over HTTP
 * closing the stream is the only way to cancel and looks like a lost connection: there a run goes on.
 */
function cancelSignal(request: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const forward = () => {
    const { reason } = request
    if (SdkError.isInstance(reason) && reason.code === SdkErrorCode.ConnectionClosed) return
    controller.abort(new AppError('CANCELLED', 'Cannot finish the request: the client cancelled it'))
  }
  if (request.aborted) forward()
  else request.addEventListener('abort', forward, { once: true })
  return controller.signal
}

/** A host that repeats a request after a lost answer repeats its tool-use id. */
function keyOf(meta: CallToolRequest['params']['_meta']): string | undefined {
  const key = meta?.['claudecode/toolUseId']
  const usable = typeof key === 'string' && key !== '' && Buffer.byteLength(key) <= limits.runKeyBytesMax
  return usable ? key : undefined
}

/** In the newer era every request says who sends it. */
function nameIn(envelope: unknown): string | null {
  const info = isObject(envelope) ? envelope[CLIENT_INFO_META_KEY] : null
  return isObject(info) && typeof info.name === 'string' ? boundedName(info.name) : null
}

/** Where people are told apart, the record says who it was. */
function actorName(client: string, auth: AuthInfo | undefined): string {
  const subject = auth?.extra?.subject
  return typeof subject === 'string' ? `${subject} (${client})` : client
}

function boundedName(name = 'unknown'): string {
  return name.slice(0, limits.clientNameCharactersMax)
}
