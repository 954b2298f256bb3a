/** A tools/call that is passed through: a run of one call, whose answer is the tool's own. */
import { type CallToolResult, ProtocolError } from '@modelcontextprotocol/server'
import { errorAboutRun, errorText, runSingleCall } from '#gateway/mcp'
import { type JsonObject, limits } from '#model'
import type { Caller, Verbs } from '#verbs'

export async function passthroughCall(
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
    return await runSingleCall(verbs, `${server}:${name}`, input as JsonObject, waiting, limits.passedRequestMsMax)
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown
    return { content: [{ type: 'text', text: errorText(errorAboutRun(thrown, run).message, run) }], isError: true }
  }
}
