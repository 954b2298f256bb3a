/**
 * A model that says what a file holds: a JSON list (or one entry a line), for tests, examples and
 * the demo. The n-th model call of a session gets the n-th entry that is no `$error`.
 */
import { AppError, isObject, type Json, limits } from '#model'
import { estimateTokens } from './compact.ts'
import { statusError } from './exchange.ts'
import { type Model, type ModelAnswer, ModelError, type ModelRequest, type ModelStop, type ToolCall } from './model.ts'
import { readModelFile } from './model-file.ts'

type Entry = { errors: Json[]; answer: Json | undefined }

export function openScripted(title: string, file: string): Model {
  const entries = entriesOf(listIn(readModelFile(file), title))

  async function complete(request: ModelRequest): Promise<ModelAnswer> {
    // The request says which call it is, and the record how often it was made: resuming asks for
    // the same answer.
    const n = request.messages.filter(({ role }) => role === 'assistant').length
    const { errors, answer } = entries[n] ?? { errors: [], answer: undefined }
    const failure = errors[(request.attempt ?? 1) - 1]
    if (failure !== undefined) throw failureOf(title, failure)
    if (answer === undefined) {
      const message = `The script of "${title}" has no answer to model call ${n + 1}`
      throw new ModelError('answered', 'TOOL_ERROR', message, { model: title, call: n + 1 })
    }
    return answerOf(answer, n, request)
  }

  return { name: title, contextTokens: limits.scriptedContextTokens, complete }
}

function listIn(text: string, title: string): Json[] {
  try {
    const isList = text.trimStart().startsWith('[')
    const lines = () => text.split('\n').filter((line) => line.trim() !== '')
    return isList ? JSON.parse(text) : lines().map((line) => JSON.parse(line))
  } catch (error) {
    const details = `is no JSON list: ${(error as Error).message}`
    throw new AppError('INVALID_INPUT_PARAM', `Cannot use "${title}": its file ${details}`, { param: 'model', details })
  }
}

/** Each answer with the failures that come before it. */
function entriesOf(list: Json[]): Entry[] {
  const entries: Entry[] = []
  let errors: Json[] = []
  for (const item of list) {
    if (isObject(item) && '$error' in item) errors.push(item.$error as Json)
    else {
      entries.push({ errors, answer: item })
      errors = []
    }
  }
  return errors.length > 0 ? [...entries, { errors, answer: undefined }] : entries
}

/** By its status as from a provider; without one the connection is cut. */
function failureOf(title: string, error: Json): AppError {
  const { status, message = '', retryAfterMs } = isObject(error) ? error : {}
  if (typeof status !== 'number')
    return new ModelError('unknown', 'UPSTREAM_UNREACHABLE', `"${title}" cut the connection`, { model: title })
  const headers = new Headers(typeof retryAfterMs === 'number' ? { 'retry-after-ms': String(retryAfterMs) } : {})
  return statusError({ model: title, keyHint: '', secrets: [] }, status, String(message), headers, 0)
}

const stops = ['refusal', 'max_tokens', 'context_overflow'] as const

function answerOf(entry: Json, n: number, { system, messages, onText }: ModelRequest): ModelAnswer {
  const { $tool, $delta, $stop, text: said } = isObject(entry) ? (entry as Record<string, Json>) : {}
  const isSpecial = $tool !== undefined || $delta !== undefined || $stop !== undefined
  const pieces = Array.isArray($delta) ? $delta.map(String) : [typeof said === 'string' && isSpecial ? said : '']
  const plainText = typeof entry === 'string' ? entry : JSON.stringify(entry)
  const text = isSpecial ? pieces.join('') : plainText
  for (const piece of isSpecial ? pieces : [text]) if (piece !== '') onText?.(piece)
  const toolCalls = $tool === undefined ? [] : [$tool].flat().map((tool, index) => toolCall(tool, n, index))
  const typed = stops.find((stop) => stop === $stop)
  const stop: ModelStop = typed ?? (toolCalls.length > 0 ? 'tool_calls' : 'end')
  const inputTokens = estimateTokens(Buffer.byteLength(system + JSON.stringify(messages)))
  const outputTokens = estimateTokens(Buffer.byteLength(text + JSON.stringify(toolCalls)))
  return { text, toolCalls, usage: { inputTokens, outputTokens, costUsd: null }, stop, raw: entry }
}

function toolCall(tool: Json, n: number, index: number): ToolCall {
  const { name, input = {} } = isObject(tool) ? tool : {}
  return { id: `call_${n + 1}_${index + 1}`, name: String(name), args: input as Json }
}
