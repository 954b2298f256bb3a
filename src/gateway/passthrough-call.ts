/** A tools/call that is passed through: a run of one call, whose answer is the tool's own. */
import { type CallToolResult, ProtocolError } from '@modelcontextprotocol/server'
import { type JsonObject, limits, toAppError } from '#model'
import { callOne } from './one-call.ts'
import type { Caller, Verbs } from './verbs.ts'

export async function passCall(
  { verbs, name: server }: { verbs: Verbs; name: string },
  { name, arguments: input = {} }: JsonObject,
  caller: Caller,
): Promise<CallToolResult> {
  try {
    const waiting = { ...caller, waitMs: null }
    return await callOne(verbs, `${server}:${name}`, input as JsonObject, waiting, limits.passedRequestMsMax)
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown
    const error = toAppError(thrown)
    return { content: [{ type: 'text', text: error.message }], isError: true }
  }
}
