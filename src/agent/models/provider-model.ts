/**
 * A model behind a provider's address, spoken to by the AI SDK's language model of that provider:
 * our request in its words, its answer in ours.
 */
import { AppError, assert, type Json, keyVariables, type ProviderConfig } from '#model'
import { exchangeOf, type Subject, streamError } from './exchange.ts'
import { type LanguageModel, loadProvider } from './load-provider.ts'
import {
  ContextOverflow,
  type Message,
  type Model,
  type ModelAnswer,
  ModelError,
  type ModelRequest,
  type ModelStop,
} from './model.ts'
import type { Reachable } from './model-name.ts'

type CallOptions = Parameters<LanguageModel['doGenerate']>[0]
type Generated = Awaited<ReturnType<LanguageModel['doGenerate']>>
type Result = Pick<Generated, 'content' | 'finishReason' | 'usage'> & { raw: Json }

export async function openProviderModel(
  title: string,
  reachable: Reachable,
  { apiKey, prices, contextTokens }: ProviderConfig,
  now: () => number,
): Promise<Model> {
  const { provider } = reachable
  const variable = keyVariables[provider]
  const keyHint = `Set providers.${provider}.apiKey in the configuration${variable === null ? '' : ` or the variable ${variable}`}`
  if (apiKey === null && variable !== null)
    throw new AppError('PERMISSION_DENIED', `Cannot use "${title}": there is no key. ${keyHint}`, { model: title })
  const subject: Subject = { model: title, keyHint, secrets: apiKey === null ? [] : [apiKey] }
  const model = await loadProvider(reachable, { fetch: exchangeOf(subject, now), apiKey })

  async function complete(request: ModelRequest): Promise<ModelAnswer> {
    try {
      const options = optionsOf(request, provider)
      const result = request.onText ? await streamed(model, options, request.onText) : await generated(model, options)
      return answerOf(result, prices, subject)
    } catch (error) {
      if (request.signal.aborted)
        throw new ModelError('unknown', 'CANCELLED', `The request to "${title}" was cancelled`, { model: title })
      const failure = streamError(subject, error)
      if (failure instanceof ContextOverflow) return overflowAnswer(failure)
      throw failure
    }
  }

  return { name: title, contextTokens, complete }
}

function optionsOf(request: ModelRequest, provider: Reachable['provider']): CallOptions {
  const { system, messages, tools = [], schema, maxTokens, signal } = request
  const names = new Map(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id, name }) => [id, name] as const)))
  const options: CallOptions = {
    prompt: [{ role: 'system', content: system }, ...messages.map((message) => promptOf(message, names))],
    maxOutputTokens: maxTokens,
    abortSignal: signal,
    // Nothing of a session is to be kept by others; and a schema only guides, since the strict form
    // of it refuses optional members.
    providerOptions: { openai: { store: false, strictJsonSchema: false } },
  }
  if (tools.length > 0)
    options.tools = tools.map(({ name, description, input }) => ({
      type: 'function',
      name,
      description,
      inputSchema: input,
    }))
  // Servers that offer both a form of the answer and tools do not take them together, and Anthropic
  // would make a tool of the form: there the system prompt has to be enough.
  else if (schema !== undefined && provider !== 'anthropic')
    options.responseFormat = { type: 'json', schema, name: 'answer' }
  return options
}

function promptOf(
  { role, text, toolCalls = [], toolCallId }: Message,
  names: Map<string, string>,
): CallOptions['prompt'][number] {
  if (role === 'user') return { role, content: [{ type: 'text', text }] }
  if (role === 'assistant') {
    const calls = toolCalls.map(({ id, name, args }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName: name,
      input: args,
    }))
    // A message without any content is refused by every provider.
    return {
      role,
      content: [...(text === '' && calls.length > 0 ? [] : [{ type: 'text' as const, text: text || '…' }]), ...calls],
    }
  }
  assert(toolCallId !== undefined, 'a result of a tool names its call')
  const output = { type: 'text' as const, value: text }
  return { role, content: [{ type: 'tool-result', toolCallId, toolName: names.get(toolCallId) ?? 'tool', output }] }
}

async function generated(model: LanguageModel, options: CallOptions): Promise<Result> {
  const { content, finishReason, usage, response } = await model.doGenerate(options)
  return { content, finishReason, usage, raw: plain(response?.body) }
}

/** The same from a stream; its parts are put together, since each token has an event of its own. */
async function streamed(model: LanguageModel, options: CallOptions, onText: (text: string) => void): Promise<Result> {
  const { stream } = await model.doStream(options)
  const content: Generated['content'] = []
  const texts = new Map<string, { type: 'text' | 'reasoning'; text: string }>()
  let head = {}
  for await (const part of stream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'response-metadata') head = { id: part.id, model: part.modelId }
    if (part.type === 'text-start' || part.type === 'reasoning-start') {
      const block = { type: part.type === 'text-start' ? ('text' as const) : ('reasoning' as const), text: '' }
      texts.set(`${block.type} ${part.id}`, block)
      content.push(block)
    }
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const block = texts.get(`${part.type === 'text-delta' ? 'text' : 'reasoning'} ${part.id}`)
      if (block) block.text += part.delta
      if (part.type === 'text-delta') onText(part.delta)
    }
    if (part.type === 'tool-call') content.push(part)
    if (part.type === 'finish') {
      const { finishReason, usage } = part
      return {
        content,
        finishReason,
        usage,
        raw: plain({ streamed: true, ...head, content, finishReason, usage: usage.raw }),
      }
    }
  }
  throw new Error('the stream ended before the answer did')
}

function plain(value: unknown): Json {
  return value === undefined ? null : JSON.parse(JSON.stringify(value))
}

function answerOf(
  { content, finishReason, usage, raw }: Result,
  prices: ProviderConfig['prices'],
  { model }: Subject,
): ModelAnswer {
  const stop = stopOf(finishReason)
  if (stop === null) {
    const message = `The provider of "${model}" cut its answer off (${finishReason.raw ?? finishReason.unified})`
    throw new ModelError('unknown', 'UPSTREAM_UNREACHABLE', message, { model })
  }
  const toolCalls = content
    .filter((part) => part.type === 'tool-call')
    .map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, args: argumentsOf(input) }))
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const inputTokens = usage.inputTokens.total ?? null
  const outputTokens = usage.outputTokens.total ?? null
  const isPriced = prices !== null && inputTokens !== null && outputTokens !== null
  const costUsd = isPriced ? (inputTokens * prices.input + outputTokens * prices.output) / 1_000_000 : null
  const called = stop === 'end' && toolCalls.length > 0
  return { text, toolCalls, usage: { inputTokens, outputTokens, costUsd }, stop: called ? 'tool_calls' : stop, raw }
}

/** Null where the answer has no end: it was cut off. */
function stopOf({ unified, raw: word }: Generated['finishReason']): ModelStop | null {
  if (word === 'model_context_window_exceeded') return 'context_overflow'
  if (unified === 'content-filter') return 'refusal'
  if (unified === 'length') return 'max_tokens'
  if (unified === 'tool-calls') return 'tool_calls'
  if (unified === 'stop') return 'end'
  return unified === 'other' && word !== undefined ? 'end' : null
}

/** Arguments that are no JSON stay the text that they are: the schema of the tool refuses it. */
function argumentsOf(input: string): Json {
  try {
    return input.trim() === '' ? {} : JSON.parse(input)
  } catch {
    return input
  }
}

function overflowAnswer(error: AppError): ModelAnswer {
  const usage = { inputTokens: null, outputTokens: null, costUsd: null }
  return { text: '', toolCalls: [], usage, stop: 'context_overflow', raw: plain(error) }
}
