/** What a call is a call of: a tool as the run may see it, or a program that runs inside. */
import { type IssuedCall, isCapability, type Tool } from '#model'
import type { Journal } from '#run/record'
import type { CallContext } from './call-context.ts'
import { isEngineTool } from './engine-tools.ts'

/** The tools of a session are there for its own program, and for none that runs inside of it. */
export async function definitionOf(
  tool: string,
  id: string,
  { catalog, plan }: Pick<CallContext, 'catalog' | 'plan'>,
): Promise<Tool | null> {
  if (isEngineTool(tool)) return null
  const own = plan === 'agent' && !id.includes('.') ? catalog.sessionTool(tool) : undefined
  return own ?? (await catalog.tool(tool)) ?? null
}

/** Whether capabilities ran as calls of the run. */
export function hasCapabilities({ calls }: Pick<Journal, 'calls'>): boolean {
  return calls.values().some(({ tool }) => isCapability(tool))
}

/** Whether the call is a program of its own. */
export function isNested({ code, tasks }: IssuedCall): boolean {
  return code !== undefined || tasks !== undefined
}
