/**
 * What a session can touch, as two servers that only its own program sees: the language model, and
 * the workspace with its files, its scripts and the verbs.
 */

import { type Model, type ModelAnswer, ModelError, type ModelRequest } from '#agent/models'
import { type CallOptions, cancelledOf, type SessionServer, timeoutOf } from '#catalog'
import { AppError, type Effect, type Json, type JsonObject, limits, sha256, type Tool, type Try, toText } from '#model'
import type { SpeechListener } from '#verbs'

export type SessionCall = { run: string; call: string; signal: AbortSignal }

/** A tool of a session: what it takes, its class, and what it does. */
export type SessionTool = {
  effect: Effect
  timeoutMs: number
  run(args: JsonObject, call: SessionCall): Promise<Json>
}

export function workspaceServer(tools: Record<string, SessionTool>, close: () => Promise<void>): SessionServer {
  const named = (name: string) => (Object.hasOwn(tools, name) ? tools[name] : undefined)
  return {
    name: 'workspace',
    tool(name) {
      const tool = named(name)
      return tool && definitionOf('workspace', name, tool.effect, tool.timeoutMs)
    },
    try: ({ id, name }, args, options) =>
      attempt(id, options, async (signal) => {
        const { run = '', call = '' } = options
        const value = await named(name)!.run(args as JsonObject, { run, call, signal })
        return { outcome: 'answered', ok: true, value }
      }),
    close,
  }
}

/** Any name is a model: whether there is one shows when it is asked. */
export function modelServer(
  open: (name: string) => Promise<Model>,
  listening?: () => SpeechListener | undefined,
): SessionServer {
  return {
    name: 'model',
    tool: (name) => definitionOf('model', name, 'read', limits.modelCallMs),
    try: ({ id, name }, args, options) =>
      attempt(id, options, async (signal) => {
        const model = await open(name)
        const request = args as unknown as Omit<ModelRequest, 'signal'>
        const attempt = options.attempt ?? 1
        const spoken = speaking(options.run, listening?.())
        try {
          return answered(await model.complete({ ...request, signal, attempt, ...spoken }), options.whole === true)
        } finally {
          spoken.onText?.(null)
        }
      }),
    close: async () => {},
  }
}

/** The answer is streamed only where there is a listener; the record has it whole, at its end. */
function speaking(
  run: string | undefined,
  hear: SpeechListener | undefined,
): { onText?: (text: string | null) => void } {
  return run === undefined || hear === undefined ? {} : { onText: (text: string | null) => hear(run, text) }
}

function answered({ raw, ...value }: ModelAnswer, isWhole: boolean): Try {
  const { inputTokens, outputTokens, costUsd } = value.usage
  const usage = { tokens: (inputTokens ?? 0) + (outputTokens ?? 0), ...(costUsd !== null && { cost: costUsd }) }
  const answer = isWhole ? { answer: { result: raw } } : {}
  return { outcome: 'answered', ok: true, value, usage, ...answer }
}

/** Commit before effect; what is thrown says itself whether the request left. */
async function attempt(
  id: string,
  { signal, timeoutMs, commit = async () => true }: CallOptions,
  make: (signal: AbortSignal) => Promise<Try>,
): Promise<Try> {
  if (!(await commit())) return { outcome: 'not_sent', error: cancelledOf(id) }
  const late = AbortSignal.timeout(timeoutMs)
  try {
    return await make(AbortSignal.any([signal, late]))
  } catch (thrown) {
    if (signal.aborted) return { outcome: 'unknown', error: cancelledOf(id) }
    if (late.aborted) return unknown(timeoutOf(id, timeoutMs))
    if (thrown instanceof ModelError && thrown.outcome === 'unknown') return unknown(thrown)
    if (thrown instanceof ModelError && thrown.outcome === 'not_sent') return notSent(thrown)
    return { outcome: 'answered', ok: false, error: errorOf(id, thrown) }
  }
}

/** A model may be asked once more, be it that the request was cut off or came too late. */
function unknown(error: AppError): Try {
  return { outcome: 'unknown', error, retriesMax: limits.modelUnknownRetriesMax }
}

function notSent(error: ModelError): Try {
  const { retryAfterMs } = error
  return { outcome: 'not_sent', error, ...(retryAfterMs === null ? {} : { retryAfterMs }) }
}

function errorOf(id: string, thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  return new AppError(
    'TOOL_INTERNAL_ERROR',
    `Cannot complete "${id}": ${(thrown as Error).message}`,
    { tool: id },
    thrown,
  )
}

function definitionOf(server: string, name: string, effect: Effect, timeoutMs: number): Tool {
  const id = `${server}:${name}`
  const definition = { input: { type: 'object' }, annotations: {}, effect, effectFrom: 'built-in' as const, timeoutMs }
  return { id, server, name, description: '', ...definition, digest: sha256(toText({ id, effect })) }
}
