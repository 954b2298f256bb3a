/** What a command of the terminal is: its words, its options, and what it gets to do its work. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Config } from '#model'
import type { Caller, Surroundings, Verbs } from '#verbs'

export type Options = Record<string, string | boolean | string[] | undefined>

export type Context = {
  config: Config
  options: Options
  words: string[]
  json: boolean
  caller: Caller
  version: string
  surroundings: Surroundings
  /** One document on stdout. */
  print(text: string): void
  /** Progress and notes on stderr, unless --quiet. */
  note(text: string): void
  stdin(): Promise<string>
  readFile(path: string): Promise<string>
  write(chunk: Uint8Array): Promise<void>
  /** Opened when first asked for, closed when the command ends. */
  verbs(): Promise<Verbs>
  /** Aborted by SIGINT and SIGTERM. */
  signal: AbortSignal
}

export type Command = {
  group: string
  usage: string
  does: string
  options?: ParseArgsOptionsConfig
  /** Only told where the configuration is: what stands in it may be wrong. */
  unconfigured?: true
  /** How many words may follow its name. */
  words: readonly [least: number, most: number]
  /** Answers with the exit code. */
  run(context: Context): Promise<number>
}

export class UsageError extends Error {}

export const globalOptions = {
  json: { type: 'boolean' },
  home: { type: 'string' },
  config: { type: 'string' },
  quiet: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsOptionsConfig

export type Parsed = { name: string; command: Command; options: Options; words: string[] }

/** Commands may have two words (`audit verify`): the longest name that fits is meant. */
export function parseCommand(argv: readonly string[], commands: Record<string, Command>): Parsed {
  const plain = argv.filter((word, index) => !word.startsWith('-') && !takesValue(argv[index - 1]))
  const two = `${plain[0]} ${plain[1]}`
  const name = Object.hasOwn(commands, two) ? two : (plain[0] ?? 'help')
  const command = commands[name]
  if (command === undefined) throw new UsageError(`there is no command "${name}"; "metier help" lists them`)
  const { values, positionals } = read(argv, command)
  const words = positionals.slice(name.split(' ').length)
  const [least, most] = command.words
  if (values.help !== true && (words.length < least || words.length > most))
    throw new UsageError(`usage: metier ${command.usage}`)
  return { name, command, options: values as Options, words }
}

function takesValue(word: string | undefined): boolean {
  return word === '--home' || word === '--config'
}

function read(argv: readonly string[], command: Command) {
  try {
    return parseArgs({ args: [...argv], options: { ...globalOptions, ...command.options }, allowPositionals: true })
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('\n')[0]}\nusage: metier ${command.usage}`)
  }
}
