/**
 * What doctor says of the tools of a server that say nothing of their effect, and how to end their
 * questions.
 */
import type { Tool } from '#model'

export function effectsDetail(server: string, tools: Tool[]): { detail: string; fix?: string } {
  const silent = tools.filter(({ effectFrom }) => effectFrom === 'default')
  if (silent.length === 0) return { detail: `${tools.length} tools` }
  const detail = `${tools.length} tools, ${silent.length} of them with effect unknown, which ask each time`
  const line = `"effects": { ${JSON.stringify(silent[0]!.name)}: "read" }`
  const classes = 'what is true of it: read, idempotent, keyed:PARAM'
  const fix = `metier effects suggest ${server}; by hand ${line} in its entry (${classes}); or metier approve ID --always '${server}:*'`
  return { detail, fix }
}
