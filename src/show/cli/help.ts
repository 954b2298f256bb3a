/** The page of all commands. */
import { limits } from '#model'
import type { Command } from './command.ts'
import { faint, strong } from './terminal-format.ts'

export function help(commands: Record<string, Command>): string {
  const groups = Map.groupBy(Object.values(commands), ({ group }) => group)
  const lines = [`${strong('metier')}: the runtime between AI agents and their tools`, '']
  for (const [group, members] of groups) {
    lines.push(strong(group))
    for (const { usage, does } of members) lines.push(`  ${usage}`, faint(`      ${does}`))
  }
  lines.push(
    '',
    `Every command takes --json, --home DIR, --config FILE, --quiet. Results up to ${limits.inlineResultBytesMax} bytes stand inline.`,
  )
  return lines.join('\n')
}
