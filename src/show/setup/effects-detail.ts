/**
 * What doctor says of the tools of a server that say nothing of their effect, and how to end their
 * questions.
 */
import type { Tool } from '#model'
import type { Proposal } from '#verbs'

/** `proposals` are of the tools that say nothing. */
export function effectsDetail(
  server: string,
  tools: Tool[],
  proposals: readonly (Proposal & { tool: string })[],
): { detail: string; fix?: string } {
  const silent = tools.filter(({ effectFrom }) => effectFrom === 'default')
  if (silent.length === 0) return { detail: `${tools.length} tools` }
  const detail = `${tools.length} tools, ${silent.length} of them with effect unknown, which ask each time`
  const harmless = proposals.find(({ effect }) => effect === 'read' || effect === 'idempotent')
  const example = JSON.stringify(harmless?.tool ?? 'TOOL')
  const line = `"effects": { ${example}: ${JSON.stringify(harmless?.effect ?? 'CLASS')} }`
  const classes = 'what is true of each: read, idempotent, keyed:PARAM'
  const fix = `metier effects suggest ${server}; by hand ${line} in its entry (${classes}); or metier approve ID --always '${server}:*'`
  return { detail, fix }
}
