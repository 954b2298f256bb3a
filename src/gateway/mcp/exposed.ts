/**
 * Tools that the configuration puts on the surface beside the three: each call of one is a run of
 * one call like any other.
 */
import type { CallToolResult, Tool as SurfaceTool } from '@modelcontextprotocol/server'
import { type JsonObject, limits, type Tool } from '#model'
import type { Caller, Verbs } from '#verbs'
import { runSingleCall } from './single-call-run.ts'

/** `server__name`, since a colon is not for names of tools. */
const surfaceName = (id: string) => id.replace(':', '__')

/**
 * In the order of the configuration, as their servers describe them; those of a server that cannot
 * be asked soon are left out, or a host would wait for it before it sees anything of us. A name
 * stands there once, for the first that has it: hosts refuse a list that has it twice.
 */
export async function exposedTools(verbs: Verbs): Promise<SurfaceTool[]> {
  const tools = await verbs.exposed(undefined, limits.toolListMsMax)
  const isFirst = ({ id }: Tool, index: number) =>
    tools.findIndex((other) => surfaceName(other.id) === surfaceName(id)) === index
  return tools.filter(isFirst).map((tool) => ({
    name: surfaceName(tool.id),
    description: tool.documentation ?? tool.description,
    inputSchema: { ...tool.input, type: 'object' },
    ...(tool.output === undefined ? {} : { outputSchema: { ...tool.output, type: 'object' } }),
    annotations: tool.annotations,
  }))
}

/** The schema of what an exposed tool takes, by its name on the surface. */
export async function exposedInputSchema(verbs: Verbs, name: string): Promise<JsonObject | undefined> {
  if (!name.includes('__')) return undefined
  return (await findExposed(verbs, name))?.input
}

/** Null when no such tool is exposed. */
export async function callExposed(
  verbs: Verbs,
  name: string,
  input: JsonObject,
  caller: Caller,
): Promise<CallToolResult | null> {
  const tool = await findExposed(verbs, name)
  return tool === undefined ? null : runSingleCall(verbs, tool.id, input, caller)
}

/** No other is asked for: its server may be slow to answer. */
async function findExposed(verbs: Verbs, name: string): Promise<Tool | undefined> {
  return (await verbs.exposed((id) => surfaceName(id) === name))[0]
}
