/**
 * Writes the tools of all servers as TypeScript declarations, for the editor in which programs are
 * written.
 */
import type { Command } from '#show/cli'
import { bad, counted, exit, writeTo } from '#show/cli'

export const types: Command = {
  group: 'Use',
  usage: 'types [-o FILE]',
  does: 'declarations of every tool, from schemas and observed results, for your editor (mcp.d.ts)',
  options: { output: { type: 'string', short: 'o' } },
  looks: true,
  words: [0, 0],
  run: async ({ verbs, options, json, print, note }) => {
    const { text, tools, problems } = await (await verbs()).types()
    const file = options.output as string | undefined
    if (file !== undefined) writeTo(file, text)
    if (json) print(JSON.stringify({ tools, ...(file === undefined ? { text } : { file }) }))
    else if (file === undefined) print(text.trimEnd())
    else print(`Wrote ${counted(tools, 'tool')} into ${file}.`)
    for (const { error } of problems) note(`${bad('✗')} ${error.message}`)
    return problems.length === 0 ? exit.done : exit.unreachable
  },
}
