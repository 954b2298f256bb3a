/** Tools that the configuration puts on the surface beside the three: each call of one is a run of one call like any other. */
import type { CallToolResult, Tool as SurfaceTool } from '@modelcontextprotocol/server'
import { type JsonObject, limits, type Tool } from '#model'
import { callOne } from './one-call.ts'
import type { Caller, Verbs } from './verbs.ts'

/** `server__name`, since a colon is not for names of tools. */
const nameOf = (id: string) => id.replace(':', '__')

/**
 * In the order of the configuration, as their servers describe them; those of a server that cannot be asked soon are left out,
 * or a host would wait for it before it sees anything of us. A name stands there once, for the first that has it: hosts refuse a list that has it twice.
 */
export async function exposedTools(verbs: Verbs): Promise<SurfaceTool[]> {
  const tools = await verbs.exposed(undefined, limits.toolListMsMax)
  const isFirst = ({ id }: Tool, index: number) => tools.findIndex((other) => nameOf(other.id) === nameOf(id)) === index
  return tools.filter(isFirst).map((tool) => ({
    name: nameOf(tool.id),
    description: tool.documentation ?? tool.description,
    inputSchema: { ...tool.input, type: 'object' },
    ...(tool.output === undefined ? {} : { outputSchema: { ...tool.output, type: 'object' } }),
    annotations: tool.annotations,
  }))
}

/** The schema of what an exposed tool takes, by its name on the surface. */
export async function exposedInput(verbs: Verbs, name: string): Promise<JsonObject | undefined> {
  if (!name.includes('__')) return undefined
  return (await named(verbs, name))?.input
}

/** Null when no such tool is exposed. */
export async function callExposed(
  verbs: Verbs,
  name: string,
  input: JsonObject,
  caller: Caller,
): Promise<CallToolResult | null> {
  const tool = await named(verbs, name)
  return tool === undefined ? null : callOne(verbs, tool.id, input, caller)
}

/** No other is asked for: its server may be slow to answer. */
async function named(verbs: Verbs, name: string): Promise<Tool | undefined> {
  return (await verbs.exposed((id) => nameOf(id) === name))[0]
}
