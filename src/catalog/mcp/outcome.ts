/** What a server said, or did not say, becomes one of the three outcomes of a try. */
import { type CallToolResult, ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import type { Receipt } from '#catalog/wire'
import {
  AppError,
  isObject,
  isWithinDepth,
  type Json,
  type JsonObject,
  limits,
  type Try,
  toText,
  type Usage,
} from '#model'

/** Structured content, else the text as JSON, else the text; several parts stay a list. */
function resultOf({ structuredContent, content }: CallToolResult): Json {
  if (structuredContent !== undefined) return structuredContent as Json
  const [part] = content ?? []
  if (part === undefined) return null
  if (content.length > 1 || part.type !== 'text') return content as Json
  try {
    const value = JSON.parse(part.text) as Json
    return isWithinDepth(value, limits.upstreamDepthMax) ? value : part.text
  } catch {
    return part.text
  }
}

/** `whole` keeps the answer as it came beside what is made of it. */
export function answered(tool: string, result: CallToolResult, whole = false): Try {
  const more = { ...usageOf(result._meta), ...(whole && { answer: { result: result as Json } }) }
  if (!result.isError) return { outcome: 'answered', ok: true, value: resultOf(result), ...more }
  const texts = (result.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const said = texts.join('\n') || otherWords(result) || 'it says that it failed, and no more'
  return { outcome: 'answered', ok: false, error: toolError(tool, said), ...more }
}

function otherWords({ structuredContent, content }: CallToolResult): string {
  return structuredContent === undefined && (content ?? []).length === 0 ? '' : toText(structuredContent ?? content)
}

/** What the call used, where the server says so in the words of OpenTelemetry, or under "usage". */
function usageOf(meta: Record<string, unknown> | undefined): { usage?: Usage } {
  if (meta === undefined) return {}
  const told = isObject(meta.usage) ? meta.usage : {}
  const input = amount(meta['gen_ai.usage.input_tokens'] ?? told.input_tokens)
  const output = amount(meta['gen_ai.usage.output_tokens'] ?? told.output_tokens)
  const tokens = amount(told.total_tokens) ?? (input === null && output === null ? null : (input ?? 0) + (output ?? 0))
  const cost = amount(told.cost)
  if (tokens === null && cost === null) return {}
  return { usage: { ...(tokens === null ? {} : { tokens }), ...(cost === null ? {} : { cost }) } }
}

function amount(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null
}

/**
 * `why` is what ended the try where no answer did: a time-out, an abort, or nothing but the error
 * itself.
 */
export function failed(
  tool: string,
  receipt: Receipt,
  why: AppError | null,
  error: unknown,
  lost: () => AppError,
  whole = false,
): Try {
  if (receipt.state === 'answered') {
    const said = error instanceof Error ? error.message : String(error)
    const answer = whole && error instanceof ProtocolError ? { answer: { error: errorOf(error) } } : {}
    return { outcome: 'answered', ok: false, error: toolError(tool, said), ...answer }
  }
  return { outcome: receipt.state === 'waiting' ? 'not_sent' : 'unknown', error: why ?? lost() }
}

function errorOf({ code, message, data }: ProtocolError): JsonObject {
  return { code, message, ...(data !== undefined && { data: data as Json }) }
}

/** Whether the tool had its effect is as unknown as before: the message may have been anything. */
export function oversizedOf(tool: string, wasEnded: boolean): AppError {
  const bytesMax = limits.upstreamLineBytesMax
  const message = `Cannot read what "${tool}" answered: its server sent a message of more than ${bytesMax} bytes, ${wasEnded ? 'and was ended' : 'which was not read'}; ask for less at a time`
  return new AppError('RESULT_TOO_LARGE', message, { tool, bytesMax })
}

export function stateLost(server: string, tool: string): AppError {
  const message = `Cannot call "${tool}": the server "${server}" was started anew since this run used it, and what the run did there is gone; begin the run again`
  return new AppError('UPSTREAM_STATE_LOST', message, { tool, server })
}

export function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
}

function toolError(tool: string, said: string): AppError {
  return new AppError('TOOL_ERROR', `Cannot complete "${tool}": ${said}`, { tool })
}
