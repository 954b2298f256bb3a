/**
 * The commands in groups, loaded by the first word of what is asked for: loading all of them would
 * take longer than most commands. In the order of the page of help.
 */
import type { Commands } from '#show/cli'

/** `words` are the first words of all its commands. */
type Group = { words: readonly string[]; load(): Promise<Commands> }

export const groups: readonly Group[] = [
  { words: ['demo'], load: async () => ({ demo: (await import('#show/demo')).demo }) },
  { words: ['init'], load: async () => (await import('#show/setup')).initCommands() },
  { words: ['connect', 'disconnect'], load: async () => (await import('#show/setup')).connectCommands() },
  { words: ['add', 'remove'], load: async () => (await import('#show/setup')).serverCommands() },
  { words: ['serve'], load: async () => (await import('#show/serve')).serveCommands() },
  { words: ['doctor'], load: async () => (await import('#show/setup')).doctorCommands() },
  {
    words: ['discover', 'why', 'tools', 'accept', 'servers', 'policy'],
    load: async () => (await import('#show/tools')).catalogCommands(),
  },
  { words: ['capabilities'], load: async () => (await import('#show/tools')).capabilityCommands() },
  { words: ['servers'], load: async () => (await import('#show/tools')).loginCommands() },
  { words: ['effects'], load: async () => (await import('#show/setup')).effectsCommands() },
  { words: ['types'], load: async () => (await import('#show/tools')).typesCommands() },
  {
    words: ['execute', 'call', 'result', 'runs', 'run'],
    load: async () => (await import('#show/runs')).runCommands(),
  },
  {
    words: ['agent', 'sessions', 'session'],
    load: async () => (await import('#show/agent')).agentCommands(),
  },
  {
    words: ['approvals', 'policy', 'approve', 'deny', 'run'],
    load: async () => (await import('#show/approvals')).decideCommands(),
  },
  {
    words: ['audit', 'purge', 'backup', 'restore', 'artifact', 'artifacts'],
    load: async () => (await import('#show/record')).recordCommands(),
  },
  { words: ['missions', 'tasks'], load: async () => (await import('#show/tasks')).taskCommands() },
  { words: ['learn', 'graph'], load: async () => (await import('#show/learn')).learnCommands },
  { words: ['sandbox'], load: async () => (await import('#show/runs')).sandboxCommands() },
]

/**
 * All that begin with the word, or every command where none does: then what is wrong is told by
 * what there is.
 */
export async function commandsFor(word: string | undefined): Promise<Commands> {
  const meant = groups.filter(({ words }) => word !== undefined && words.includes(word))
  return Object.assign({}, ...(await Promise.all((meant.length > 0 ? meant : groups).map(({ load }) => load()))))
}
