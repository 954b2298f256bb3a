/**
 * A language model as the loop uses it: one request, one answer, no retries. Drivers: providers
 * through the AI SDK, a script of answers, and a cassette of recorded ones.
 */
import { AppError, type ContextOf, type ErrorCode, type Json, type JsonObject } from '#model'

/** A tool that the model may call by its provider's own means. */
export type ModelTool = { name: string; description: string; input: JsonObject }

/** A tool call as the model asked for it. */
export type ToolCall = { id: string; name: string; args: Json }

/** Plain JSON, so that it goes into the record as it is. */
export type Message = {
  role: 'user' | 'assistant' | 'tool'
  text: string
  /** Of an assistant. */
  toolCalls?: ToolCall[]
  /** Of a tool: the call that this is the result of. */
  toolCallId?: string
}

export type ModelRequest = {
  system: string
  messages: Message[]
  tools?: ModelTool[]
  /** The answer's text is to be JSON that fits it; one that does not is asked for once more. */
  schema?: JsonObject
  maxTokens: number
  signal: AbortSignal
  /** How often this was asked, with this time; 1 where it is not counted. */
  attempt?: number
  /** Text as it comes, for a terminal; the answer is the same without it. */
  onText?: (text: string) => void
}

/** Null where the provider does not say, or has no price. */
export type ModelUsage = { inputTokens: number | null; outputTokens: number | null; costUsd: number | null }

export type ModelStop = 'end' | 'tool_calls' | 'max_tokens' | 'refusal' | 'context_overflow'

export type ModelAnswer = {
  text: string
  /** Where the request has a schema: what the text says as JSON that fits it; absent where none. */
  json?: Json
  toolCalls: ToolCall[]
  usage: ModelUsage
  stop: ModelStop
  /** What the provider said, as it came; after a repair both answers. */
  raw: Json
}

export type Model = {
  /** As the user wrote it: `anthropic:NAME`. */
  readonly name: string
  readonly contextTokens: number
  /** Rejects with a ModelError. */
  complete(request: ModelRequest): Promise<ModelAnswer>
}

/**
 * A request that got no answer. `not_sent`: the provider refused to begin (429, 5xx, no
 * connection). `unknown`: it was cut off. `answered`: it will be refused each time.
 */
export class ModelError<Code extends ErrorCode = ErrorCode> extends AppError<Code> {
  readonly outcome: 'not_sent' | 'unknown' | 'answered'
  /** How long the provider asks to wait before the next try; null where it does not say. */
  readonly retryAfterMs: number | null

  constructor(
    outcome: ModelError['outcome'],
    code: Code,
    message: string,
    context: ContextOf<Code>,
    retryAfterMs: number | null = null,
  ) {
    super(code, message, retryAfterMs === null ? context : { ...context, retryAfterMs })
    this.outcome = outcome
    this.retryAfterMs = retryAfterMs
  }
}

/** The request is longer than the window of the model. */
export class ContextOverflow extends ModelError<'TOOL_ERROR'> {}
