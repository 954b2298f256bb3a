/** One tools/call of the surface: what the host reads of the answer or of the error. */
import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { channelOfRequest, FormRequired, type Forms, withElicitation } from '#gateway/elicitation'
import { type JsonObject, limits } from '#model'
import type { Verbs } from '#verbs'
import { agentAnswer, errorAboutRun, errorJson } from './agent-answer.ts'
import { callerOf } from './caller.ts'
import { callExposed } from './exposed.ts'
import { progressReporter } from './progress.ts'

const verbNames = ['discover', 'execute', 'result'] as const

/** What a client of the legacy era said of itself when it connected. */
export type LegacyClient = { name: string | undefined; capabilities: unknown }

export async function callSurfaceTool(
  verbs: Verbs,
  params: CallToolRequest['params'],
  context: ServerContext,
  client: LegacyClient,
  forms: Forms,
): Promise<CallToolResult | InputRequiredResult> {
  const { name, arguments: input = {} } = params
  let run: string | null = null
  const began = (begun: string) => {
    run = begun
  }
  const caller = { ...callerOf(context, client.name, params), waitMs: limits.executeWaitMsDefault, began }
  const reportProgress = progressReporter(() => context)
  const gatedVerbs = withElicitation(
    verbs,
    forms,
    channelOfRequest(forms, context, client.capabilities, params as JsonObject),
  )
  const verb = verbNames.find((known) => known === name)
  try {
    if (verb !== undefined)
      return toolResult(
        agentAnswer(
          await gatedVerbs[verb](input, {
            ...caller,
            ...(reportProgress && { attendant: { runProgressed: reportProgress } }),
          }),
        ),
        false,
      )
    const result = await callExposed(gatedVerbs, name, input as JsonObject, {
      ...caller,
      ...(reportProgress && { attendant: { progress: reportProgress } }),
    })
    if (result !== null) return result
  } catch (thrown) {
    if (thrown instanceof FormRequired) return thrown.result
    return toolResult(errorJson(errorAboutRun(thrown, run)), true)
  }
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(name))
}

/**
 * The structured content is what the host's model reads; the text is the same for hosts that know
 * no structure.
 */
function toolResult(answer: JsonObject, isError: boolean): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text: JSON.stringify(answer) }]
  return { content, structuredContent: answer, ...(isError && { isError }) }
}

function unknownTool(name: string): string {
  const shown = name.slice(0, limits.clientNameCharactersMax)
  return `Cannot call "${shown}": there is no such tool here; find it with discover and call it from a plan given to execute`
}
