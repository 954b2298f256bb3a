/** A tool's definition as the home's record has it, whether its server is there or not. */
import { applyDiff } from '#catalog'
import type { JsonObject } from '#model'
import type { Store } from '#record'

export type Pins = Pick<Store, 'pinsOf'>
export type ToolDefinition = { description: string; input?: unknown; output?: unknown }

/** As it holds: a change counts from when a human accepted it. */
export function pinnedTool(tool: string, { pinsOf }: Pins): ToolDefinition {
  let definition: JsonObject = {}
  let changed: Parameters<typeof applyDiff>[1] = []
  for (const { type, body } of pinsOf(tool, 0)) {
    if (type === 'tool.changed') changed = body.diff
    else definition = applyDiff(definition, type === 'tool.pinned' ? body.diff : changed)
  }
  const { description, input, output } = definition
  return { description: typeof description === 'string' ? description : '', input, output }
}
