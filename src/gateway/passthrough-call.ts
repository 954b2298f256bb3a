/** A tools/call that is passed through: a run of one call, whose answer is the tool's own. */
import { type CallToolResult, ProtocolError } from '@modelcontextprotocol/server'
import { type JsonObject, limits } from '#model'
import { errorFor, errorText } from './agent-answer.ts'
import { callOne } from './one-call.ts'
import type { Caller, Verbs } from './verbs.ts'

export async function passCall(
  { verbs, name: server }: { verbs: Verbs; name: string },
  { name, arguments: input = {} }: JsonObject,
  caller: Caller,
): Promise<CallToolResult> {
  let run: string | null = null
  const began = (begun: string) => {
    run = begun
  }
  try {
    const waiting = { ...caller, waitMs: null, began }
    return await callOne(verbs, `${server}:${name}`, input as JsonObject, waiting, limits.passedRequestMsMax)
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown
    return { content: [{ type: 'text', text: errorText(errorFor(thrown, run).message, run) }], isError: true }
  }
}
