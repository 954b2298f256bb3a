/** One tools/call of an open conversation, over whichever wire, in whichever era. */
import type { CallToolRequest, CallToolResult, RequestOptions, StandardSchemaV1 } from '@modelcontextprotocol/client'
import type { CallOptions } from '#catalog/tool-server'
import { StdioWire } from '#catalog/wire'
import { isObject, type JsonObject, type Tool } from '#model'
import type { Connection, ToolDefinition } from './connect.ts'

export async function callTool(
  { client, wire, era }: Connection,
  { name, input }: Tool,
  params: CallToolRequest['params'],
  options: RequestOptions,
): Promise<CallToolResult> {
  // The SDK client's own way is slower for every call; it is needed where headers repeat what
  // stands in the arguments.
  const isPlain = era.kind === 'legacy' || wire instanceof StdioWire
  if (isPlain) return client.request({ method: 'tools/call', params }, result, options)
  // With the definition at hand the client neither repeats a call by itself nor judges what the
  // tool answers.
  const toolDefinition = { name, inputSchema: input as ToolDefinition['inputSchema'] }
  return client.callTool(params, { ...options, toolDefinition })
}

/** What the caller and the trace send along with the request. */
export function metaOf({ traceparent, attendant }: CallOptions): { _meta?: JsonObject } {
  const meta = { ...attendant?.meta, ...(traceparent && { traceparent }) }
  return Object.keys(meta).length === 0 ? {} : { _meta: meta }
}

/** What is relied on in a result; the rest of it is the tool's own. */
const result: StandardSchemaV1<unknown, CallToolResult> = {
  '~standard': {
    version: 1,
    vendor: 'metier',
    validate(value) {
      const problem = problemOf(value)
      if (problem !== null) return { issues: [{ message: problem }] }
      const answer = value as CallToolResult
      return { value: answer.content === undefined ? { ...answer, content: [] } : answer }
    },
  },
}

function problemOf(value: unknown): string | null {
  if (!isObject(value)) return 'it is not an object'
  const { content = [], isError = false } = value
  if (!Array.isArray(content)) return '"content" is not a list'
  const isPart = (part: unknown) =>
    isObject(part) && typeof part.type === 'string' && (part.type !== 'text' || typeof part.text === 'string')
  if (!content.every(isPart)) return '"content" has a part that is none'
  return typeof isError === 'boolean' ? null : '"isError" is neither true nor false'
}
