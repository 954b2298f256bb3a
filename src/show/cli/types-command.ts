/** Writes the tools of all servers as TypeScript declarations, for the editor in which programs are written. */
import { writeFileSync } from 'node:fs'
import { type Command, UsageError } from './command.ts'
import { exit } from './exit.ts'
import { bad, counted } from './paint.ts'

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

export function writeTo(file: string, content: string | Uint8Array): void {
  try {
    writeFileSync(file, content)
  } catch (error) {
    throw new UsageError(`Cannot write ${file}: ${(error as Error).message}`)
  }
}
