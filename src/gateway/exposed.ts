/** Tools that the configuration puts on the surface beside the three: each call of one is a run of one call like any other. */
import type { CallToolResult, Tool as SurfaceTool } from '@modelcontextprotocol/server'
import type { JsonObject, Tool } from '#model'
import { callOne } from './one-call.ts'
import type { Caller, Verbs } from './verbs.ts'

/** `server__name`, since a colon is not for names of tools. */
const nameOf = ({ server, name }: Tool) => `${server}__${name}`

/**
 * In the order of the configuration, as their servers describe them; those of a server that cannot be asked are left out. A
 * name stands there once, for the first that has it: hosts refuse a list that has it twice.
 */
export async function exposedTools(verbs: Verbs): Promise<SurfaceTool[]> {
  const tools = await verbs.exposed()
  const isFirst = (tool: Tool, index: number) => tools.findIndex((other) => nameOf(other) === nameOf(tool)) === index
  return tools.filter(isFirst).map((tool) => ({
    name: nameOf(tool),
    description: tool.description,
    inputSchema: { ...tool.input, type: 'object' },
    ...(tool.output === undefined ? {} : { outputSchema: { ...tool.output, type: 'object' } }),
    annotations: tool.annotations,
  }))
}

/** The schema of what an exposed tool takes, by its name on the surface. */
export async function exposedInput(verbs: Verbs, name: string): Promise<JsonObject | undefined> {
  if (!name.includes('__')) return undefined
  return (await verbs.exposed()).find((exposed) => nameOf(exposed) === name)?.input
}

/** Null when no such tool is exposed. */
export async function callExposed(
  verbs: Verbs,
  name: string,
  input: JsonObject,
  caller: Caller,
): Promise<CallToolResult | null> {
  const tool = (await verbs.exposed()).find((exposed) => nameOf(exposed) === name)
  return tool === undefined ? null : callOne(verbs, tool.id, input, caller)
}
