/**
 * The commands in groups, one file each, loaded by the first word of what is asked for: loading all of them would take longer
 * than most commands. In the order of the page of help.
 */
import type { Command } from './command.ts'

type Commands = Record<string, Command>
/** `words` are the first words of all its commands. */
type Group = { words: readonly string[]; load(): Promise<Commands> }

export const groups: readonly Group[] = [
  { words: ['demo'], load: async () => ({ demo: (await import('./demo.ts')).demo }) },
  { words: ['init'], load: async () => ({ init: (await import('./init.ts')).init }) },
  { words: ['connect', 'disconnect'], load: async () => (await import('./connect.ts')).connectCommands },
  { words: ['add', 'remove'], load: async () => (await import('./server-commands.ts')).serverCommands },
  { words: ['serve', 'doctor'], load: async () => (await import('./system-commands.ts')).systemCommands },
  {
    words: ['discover', 'tools', 'accept', 'servers', 'policy'],
    load: async () => (await import('./catalog-commands.ts')).catalogCommands,
  },
  { words: ['servers'], load: async () => (await import('./login-commands.ts')).loginCommands },
  {
    words: ['effects'],
    load: async () => ({ 'effects suggest': (await import('./effects-command.ts')).effectsSuggest }),
  },
  { words: ['types'], load: async () => ({ types: (await import('./types-command.ts')).types }) },
  {
    words: ['execute', 'call', 'result', 'runs', 'run'],
    load: async () => (await import('./run-commands.ts')).runCommands,
  },
  {
    words: ['approvals', 'policy', 'approve', 'deny', 'run'],
    load: async () => (await import('./decide-commands.ts')).decideCommands,
  },
  {
    words: ['audit', 'purge', 'backup', 'restore', 'artifact', 'artifacts'],
    load: async () => (await import('./record-commands.ts')).recordCommands,
  },
  { words: ['sandbox'], load: async () => (await import('./sandbox-commands.ts')).sandboxCommands },
]

/** All that begin with the word, or every command where none does: then what is wrong is told by what there is. */
export async function commandsFor(word: string | undefined): Promise<Commands> {
  const meant = groups.filter(({ words }) => word !== undefined && words.includes(word))
  return Object.assign({}, ...(await Promise.all((meant.length > 0 ? meant : groups).map(({ load }) => load()))))
}
