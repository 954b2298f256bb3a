/**
 * A tool as an agent may be told of it: what its server changed in it is for a human to read and
 * to accept first.
 */

import type { ToolDefinition } from '#catalog/mcp'
import { redact } from '#catalog/tool-server'
import { isObject, type Json, type JsonObject, type ServerConfig, type Tool } from '#model'
import { toTools } from './definition.ts'
import type { Pins } from './pins.ts'

/**
 * One that must not be called as it is keeps the shapes that were accepted, and its description is
 * why it is not called.
 */
export function forAgents(tool: Tool, pins: Pins): Tool {
  const problem = pins.problemOf(tool)
  if (problem === null) return tool
  const { input, output, annotations } = pins.acceptedOf(tool)
  const { output: _, observed: __, ...rest } = tool
  return {
    ...rest,
    description: problem.message,
    input: objectOf(input),
    ...(output === undefined ? {} : { output: objectOf(output) }),
    annotations: objectOf(annotations),
  }
}

type Source = { server: string; config: ServerConfig; secrets: readonly string[] }

/** The same of a server's own list, as it came: what did not change is not touched. */
export function listForAgents(listed: readonly Json[], { server, config, secrets }: Source, pins: Pins): Json[] {
  return listed.map((entry) => {
    if (!isObject(entry) || typeof entry.name !== 'string' || !isObject(entry.inputSchema)) return entry
    const [tool] = toTools(server, config, [redact(entry, secrets) as ToolDefinition])
    if (tool === undefined || pins.problemOf(tool) === null) return entry
    const { name, description, input, output, annotations } = forAgents(tool, pins)
    return { name, description, inputSchema: input, ...(output && { outputSchema: output }), annotations }
  })
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? (value as JsonObject) : {}
}
