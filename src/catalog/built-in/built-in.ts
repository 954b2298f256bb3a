/**
 * The server `metier`: tools that run in this process, with no child and no protocol. Always there,
 * and called, judged and recorded like those of any other server.
 */
import { join } from 'node:path'
import { canonicalDigest } from '#catalog/definitions'
import { type CallOptions, cancelledOf, type ToolServer, timeoutOf } from '#catalog/tool-server'
import { AppError, builtInServer, isObject, type Json, type JsonObject, type Tier, type Tool, type Try } from '#model'
import { type ArtifactsAddress, openArtifacts } from '#record'
import { openScriptBoxes, type ScriptBoxes } from '#sandbox'
import { type GraphAddress, type GraphStore, graphIdentity, openGraphStore, openTaskGraph } from '#tasks'
import { codesOfEveryCall, type Documentation, shortText, wholeText } from './documentation.ts'
import type { BuiltInTool, Parts, ResultText } from './tool.ts'

export type { Documentation } from './documentation.ts'
export type { BuiltInTool, Call, Parts } from './tool.ts'

export type BuiltInOptions = {
  home: string
  /** Where artifacts are. */
  artifacts: ArtifactsAddress
  taskGraph: GraphAddress
  resultText: ResultText
  /** For scripts: no box below `minTier`, no connection but to `outbound`. */
  sandbox: { minTier: Tier; outbound: readonly string[] }
}

type BuiltIn = ToolServer & {
  tools: Tool[]
  /** Why a call is not to be made with arguments that fit the schema. */
  problemOf(tool: Tool, args: Json): AppError | null
  close(): Promise<void>
}

export function openBuiltIn(
  definitions: readonly BuiltInTool[],
  { home, artifacts: place, taskGraph, resultText, sandbox: { minTier, outbound } }: BuiltInOptions,
): BuiltIn {
  let opened: ScriptBoxes | null = null
  let store: Promise<GraphStore> | null = null
  const artifacts = openArtifacts(place)
  const parts: Parts = {
    artifacts,
    outbound,
    resultText,
    boxes: () =>
      (opened ??= openScriptBoxes({
        folder: join(home, 'sandbox'),
        minTier: minTier === 'wasm' ? 'os' : minTier,
        outbound,
      })),
    async graph() {
      store ??= openGraphStore(taskGraph)
      return openTaskGraph(await store)
    },
  }
  const byName = new Map(definitions.map((tool) => [tool.name, tool]))
  const tools = definitions.map(toTool)
  return {
    name: builtInServer,
    // By what the tools work on and not by what they are, so that a new release breaks no run. A
    // folder of artifacts belongs to its home and moves with it.
    digest: canonicalDigest({ artifacts: artifacts.address, taskGraph: graphIdentity(taskGraph) }),
    tools,
    list: async () => ({ tools, problems: [] }),
    problemOf: ({ name }, args) => byName.get(name)?.problemOf?.(args as JsonObject, parts) ?? null,
    async try(tool, args, options) {
      const definition = byName.get(tool.name)
      if (definition !== undefined) return tryTool(definition, tool.id, args as JsonObject, parts, options)
      const message = `Cannot call "${tool.id}": there is no such tool`
      return { outcome: 'not_sent', error: new AppError('TOOL_NOT_FOUND', message, { tool: tool.id }) }
    },
    close: async () => void (await Promise.all([opened?.close(), store?.then((one) => one.close())])),
  }
}

function toTool(definition: BuiltInTool): Tool {
  const { name, documentation, input, output, annotations, effect, byArguments, timeoutMs } = definition
  const id = `${builtInServer}:${name}`
  const description = shortText(documentation)
  return {
    id,
    server: builtInServer,
    name,
    description,
    documentation: wholeText(id, documentation),
    input,
    output,
    annotations,
    effect,
    effectFrom: 'built-in',
    ...(byArguments && {
      effects: byArguments.effects,
      effectFor: (args: Json) => (isObject(args) ? byArguments.effectFor(args as JsonObject) : effect),
    }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    digest: canonicalDigest({ name, description, inputSchema: input, outputSchema: output, annotations }),
  }
}

/**
 * What the function throws is the tool's answer, with its own code. Where it was ended from
 * outside, it is not known how far it came.
 */
async function tryTool(
  definition: BuiltInTool,
  id: string,
  args: JsonObject,
  parts: Parts,
  { signal, timeoutMs, run, call, whole = false, commit = async () => true }: CallOptions,
): Promise<Try> {
  if (!(await commit())) return { outcome: 'not_sent', error: cancelledOf(id) }
  const late = AbortSignal.timeout(timeoutMs)
  const over = AbortSignal.any([signal, late])
  const which = { ...(run !== undefined && { run }), ...(call !== undefined && { call }), signal: over }
  try {
    const value = await definition.run(args, parts, which)
    return { outcome: 'answered', ok: true, value, ...(whole && { answer: { result: resultOf(value) } }) }
  } catch (thrown) {
    if (signal.aborted) return { outcome: 'unknown', error: cancelledOf(id) }
    if (late.aborted) return { outcome: 'unknown', error: timeoutOf(id, timeoutMs) }
    const error = errorOf(id, thrown, definition.documentation.errors)
    return { outcome: 'answered', ok: false, error, ...(whole && { answer: { result: failureOf(error) } }) }
  }
}

/** A code that the tool does not list would leave an agent without a rule for it: a bug of ours. */
function errorOf(id: string, thrown: unknown, listed: Documentation['errors']): AppError {
  if (thrown instanceof AppError && (thrown.code in listed || codesOfEveryCall.includes(thrown.code))) return thrown
  const message = `Cannot complete "${id}": ${(thrown as Error).message}`
  return new AppError('TOOL_INTERNAL_ERROR', message, { tool: id }, thrown)
}

/** As a server of the protocol would say it. */
function resultOf(value: Json): Json {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value }
}

function failureOf(error: AppError): Json {
  return { content: [{ type: 'text', text: String(error) }], isError: true }
}
