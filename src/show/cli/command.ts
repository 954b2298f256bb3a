/** What a command of the terminal is: its words, its options, and what it gets to do its work. */
import type { ParseArgsOptionsConfig } from 'node:util'
import { type AppError, type Config, nearNames, parseArgs } from '#model'
import type { Caller, RecordVerbs, Verbs, VerbsOptions } from '#verbs'
import type { Terminal } from './terminal.ts'

/** What an id at a terminal may be of. */
export type IdKind = 'run' | 'approval' | 'artifact' | 'mission' | 'task'

export type Options = Record<string, string | boolean | string[] | undefined>

export type Context = {
  config: Config
  /** Why there are defaults in its place, for a command that diagnoses. */
  configFault: AppError | null
  options: Options
  words: string[]
  json: boolean
  /** Whether a person reads stdout: a pipe or a file gets results whole. */
  isTerminal: boolean
  caller: Caller
  version: string
  surroundings: VerbsOptions
  /** Where a person told other hosts to keep their things, instead of the home folder. */
  hostFolders: { claude?: string; codex?: string }
  /** One document on stdout. */
  print(text: string): void
  /** Progress and notes on stderr, unless --quiet. */
  note(text: string): void
  stdin(): Promise<string>
  stdinBytes(): Promise<Uint8Array>
  readFile(path: string): Promise<string>
  write(chunk: Uint8Array): Promise<void>
  /** The configuration as it stands in its file now; throws where it cannot be read. */
  readConfig(): Config
  /**
   * What can be read, without what moves runs: opened when first asked for, closed when the command
   * ends.
   */
  record(): Promise<RecordVerbs>
  /** Everything, in the same record. */
  verbs(): Promise<Verbs>
  /** The person at the terminal; null where stdin or stdout is none. */
  terminal: Terminal | null
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
  /** Told what is wrong with the configuration, instead of not being started. */
  diagnoses?: true
  /** Only looks, so that it can be left at any moment. */
  looks?: true
  /** What its first word is the id of: the start of one and `@last` are read too. */
  ids?: IdKind
  /** How many words may follow its name. */
  words: readonly [least: number, most: number]
  /** Answers with the exit code. */
  run(context: Context): Promise<number>
}

/** By their names, of one or two words. */
export type Commands = Record<string, Command>

export class UsageError extends Error {}

const globalOptions = {
  json: { type: 'boolean' },
  home: { type: 'string' },
  config: { type: 'string' },
  quiet: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsOptionsConfig

export type Parsed = { name: string; command: Command; options: Options; words: string[] }

/** Commands may have two words (`audit verify`): the longest name that fits is meant. */
export function parseCommand(argv: readonly string[], commands: Commands): Parsed {
  const plain = plainWords(argv)
  const asked = askedInsteadOf(argv, plain)
  if (asked !== null) return { command: commands[asked.name]!, ...asked }
  const two = `${plain[0]} ${plain[1]}`
  const name = Object.hasOwn(commands, two) ? two : (plain[0] ?? 'help')
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) throw new UsageError(noSuchCommand(plain, Object.keys(commands)))
  const { values, positionals } = read(argv, command)
  const words = positionals.slice(name.split(' ').length)
  const [least, most] = command.words
  if (words.length < least || words.length > most) throw new UsageError(`usage: metier ${command.usage}`)
  return { name, command, options: values as Options, words }
}

/** What stands on the line beside options and their values. */
export function plainWords(argv: readonly string[]): string[] {
  return argv.filter((word, index) => !word.startsWith('-') && !takesValue(argv[index - 1]))
}

/** A request for help is answered, whatever else the line says. */
function askedInsteadOf(argv: readonly string[], plain: string[]): Pick<Parsed, 'name' | 'options' | 'words'> | null {
  const given = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length)
  const options = { json: given.includes('--json') }
  if (given.includes('--help') || given.includes('-h')) return { name: 'help', options, words: plain }
  return plain.length === 0 && given.includes('--version') ? { name: 'version', options, words: [] } : null
}

function takesValue(word: string | undefined): boolean {
  return word === '--home' || word === '--config'
}

/** Commands that begin with the words, or the page of all where there are none. */
export function commandsUnder(words: readonly string[], commands: Commands): Record<string, Command> {
  const isMeant = (start: string) => (name: string) => name === start || name.startsWith(`${start} `)
  const [one = '', two] = words
  const longest = two !== undefined && Object.hasOwn(commands, `${one} ${two}`) ? `${one} ${two}` : one
  const names = Object.keys(commands).filter(words.length === 0 ? () => true : isMeant(longest))
  if (names.length === 0) throw new UsageError(noSuchCommand(words, Object.keys(commands)))
  return Object.fromEntries(names.map((name) => [name, commands[name]!]))
}

function noSuchCommand([one = '', two]: readonly string[], names: readonly string[]): string {
  const under = names.filter((name) => name.startsWith(`${one} `))
  if (under.length > 0) {
    const said = two === undefined ? `"${one}" is only half a command` : `there is no command "${one} ${two}"`
    return `${said}; there ${under.length === 1 ? 'is' : 'are'} ${under.join(', ')}`
  }
  const firstWords = new Set(names.map((name) => name.split(' ')[0]!))
  const close = nearNames(one, firstWords)
  const meant = close.length === 0 ? '' : `, but ${close.map((name) => `"${name}"`).join(', ')}`
  return `there is no command "${one}"${meant}; "metier help" lists them`
}

function read(argv: readonly string[], command: Command) {
  try {
    return parseArgs({
      args: [...argv],
      options: { ...globalOptions, ...command.options },
      allowPositionals: true,
    })
  } catch (error) {
    const [, option] = /^Unknown option '([^']+)'/.exec((error as Error).message) ?? []
    const [line] = (error as Error).message.split('\n')
    const said = option === undefined ? line : `there is no option ${option}`
    throw new UsageError(`${said}\nusage: metier ${command.usage}`)
  }
}

/** A whole number that an option gives. */
export function numberOption(options: Options, name: string, least = 0, most = Number.MAX_SAFE_INTEGER) {
  const text = options[name]
  if (text === undefined) return undefined
  const number = /^\d+$/.test(String(text)) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
  throw new UsageError(`--${name} takes a whole number ${range}, not "${text}"`)
}
