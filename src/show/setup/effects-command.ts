/**
 * `effects suggest`: proposes effect classes for the tools of a server that say nothing of
 * themselves, and writes them after a yes.
 */
import { dirname } from 'node:path'
import { AppError, type Effect, escapeInvisible, nearNames, parseConfig } from '#model'
import { type Command, type Context, counted, exit, faint, good, strong, table, UsageError } from '#show/cli'
import type { Proposal } from '#verbs'
import { readText, writeText } from './connect-file.ts'
import { hasValue, withValue } from './connect-json.ts'

type Suggested = Proposal & { tool: string }

export const effectsSuggest: Command = {
  group: 'Set up',
  usage: 'effects suggest SERVER [--print] [--yes]',
  does: 'propose what each tool that says nothing of its effect may be, and write that into the configuration after a yes',
  options: { print: { type: 'boolean' }, yes: { type: 'boolean' } },
  words: [1, 1],
  run: async (context) => {
    const server = context.words[0]!
    const suggestions = await suggestionsFor(context, server)
    const effects = Object.fromEntries(suggestions.map(({ tool, effect }) => [tool, effect]))
    show(context, server, suggestions)
    const isWritten = suggestions.length > 0 && (await isWanted(context))
    if (isWritten) write(context, server, effects)
    if (context.json) context.print(JSON.stringify({ server, effects, suggestions, written: isWritten }))
    return exit.done
  },
}

/** Of tools whose class comes from nowhere: what a person or the server has said stays as it is. */
async function suggestionsFor(context: Context, server: string): Promise<Suggested[]> {
  const servers = Object.keys(context.config.servers)
  if (!servers.includes(server)) {
    const near = nearNames(server, servers)
    const there = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are ${servers.join(', ') || 'none'}`
    throw new AppError('CONFIG_INVALID', `Cannot suggest effects: there is no server "${server}"; ${there}`, { server })
  }
  return (await context.verbs()).suggestEffects(server)
}

function show({ json, print, note }: Context, server: string, suggestions: Suggested[]): void {
  if (json) return
  if (suggestions.length === 0) return print(`Every tool of ${server} says what it does, or the configuration does.`)
  print(
    table(
      suggestions.map(({ tool, effect, because }) => [escapeInvisible(tool), effect, faint(escapeInvisible(because))]),
    ),
  )
  note(
    'read is made without a question, idempotent too, keyed and unsafe ask. Check them: they come from names and words.',
  )
}

async function isWanted(context: Context): Promise<boolean> {
  const { options, terminal, note, json, signal } = context
  if (options.print === true) return false
  if (options.yes === true) return true
  if (terminal === null || json) {
    note('Nothing is written: add --yes to write them, or ask at a terminal.')
    return false
  }
  note(`Write them into ${fileOf(context)}? ${strong('y')} yes · any other key no`)
  return (await terminal.key(signal))?.toLowerCase() === 'y'
}

function fileOf({ config }: Context): string {
  if (config.file === null) throw new UsageError('there is no configuration file to write into')
  return config.file
}

/**
 * One line after the other, so that comments and layout stay; the text is written only if it is a
 * configuration that can be read.
 */
function write(context: Context, server: string, effects: Record<string, Effect>): void {
  const file = fileOf(context)
  const before = readText(file)
  try {
    const section = sectionOf(before, server)
    const after = Object.entries(effects).reduce(
      (text, [tool, effect]) => withValue(text, [section, server, 'effects', tool], effect),
      before,
    )
    parseConfig({ file, text: after, home: '', env: {}, directory: dirname(file) })
    writeText(file, after)
  } catch (error) {
    const why = `${(error as Error).message}; use --print and write them yourself`
    throw new AppError('CONFIG_INVALID', `Cannot change "${file}": ${why}`, { file }, error)
  }
  if (!context.json)
    context.print(`${good('✓')} ${strong(file)} has ${counted(Object.keys(effects).length, 'effect')} more`)
}

function sectionOf(text: string, server: string): 'mcpServers' | 'servers' {
  const names = ['mcpServers', 'servers'] as const
  const found = names.find((section) => hasValue(text, [section, server]))
  if (found === undefined) throw new Error(`it has no server "${server}"`)
  return found
}
