/**
 * One call of one tool for a host: a run of one call like any other, answered with what the tool
 * itself answered.
 */
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { type Answer, isObject, type Json, type JsonObject, limits, sha256 } from '#model'
import type { Caller, ExecuteAnswer, Verbs } from '#verbs'
import { agentAnswer, errorText } from './agent-answer.ts'

export async function runSingleCall(
  verbs: Verbs,
  tool: string,
  input: JsonObject,
  caller: Caller,
  timeoutMs?: number,
): Promise<CallToolResult> {
  const task = { id: 'call', tool, arguments: { $literal: input }, whole: true, ...(timeoutMs && { timeoutMs }) }
  const plan = { intent: `call ${tool}`, implementation: { type: 'dag', tasks: [task] } }
  const answer = await verbs.execute(plan, { ...caller, wantsRaw: true })
  const raw = answer.raw ?? (answer.run === undefined ? null : verbs.rawAnswer(answer.run))
  if (raw !== null) return resultOfRaw(raw)
  if (answer.status === 'done') return resultOfValue(await readResult(verbs, answer, caller))
  const { error } = answer
  const text = isObject(error) ? errorText(String(error.message), answer.run) : JSON.stringify(agentAnswer(answer))
  if (isObject(error) && error.code === 'TOOL_NOT_FOUND') throw new ProtocolError(ProtocolErrorCode.InvalidParams, text)
  return { content: [{ type: 'text', text }], isError: true }
}

/** An error of the protocol is one again, with its code and its data. */
function resultOfRaw(answer: Answer): CallToolResult {
  if ('result' in answer) return answer.result as CallToolResult
  const { code, message, data } = answer.error as { code: number; message: string; data?: Json }
  throw new ProtocolError(code, message, data)
}

/**
 * A result too large for an answer is read page by page; a text is told from other JSON by its
 * digest.
 */
async function readResult(verbs: Verbs, answer: ExecuteAnswer, caller: Caller): Promise<Json> {
  if (answer.result !== undefined) return answer.result
  let text = ''
  let digest: unknown
  for (let offset: unknown = 0; typeof offset === 'number'; ) {
    const page = await verbs.result({ run: answer.run, format: 'text', offset, limit: limits.resultPageMax }, caller)
    text += page.text
    digest = page.digest
    offset = page.next
  }
  const isText = sha256(JSON.stringify(text)) === digest
  return isText ? text : JSON.parse(text)
}

/**
 * What a human said that the tool did, or what was kept of it: structure, a text, or the parts that
 * it was made of.
 */
function resultOfValue(value: Json): CallToolResult {
  if (isContent(value)) return { content: value }
  const content: CallToolResult['content'] = [
    { type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) },
  ]
  return isObject(value) ? { content, structuredContent: value } : { content }
}

const contentTypes = new Set(['text', 'image', 'audio', 'resource', 'resource_link'])

function isContent(value: unknown): value is CallToolResult['content'] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((part) => isObject(part) && contentTypes.has(String(part.type)))
  )
}
