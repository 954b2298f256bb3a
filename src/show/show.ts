/**
 * What a person sees: the commands of the terminal. Words and a configuration enter; text and an
 * exit code leave.
 */
import { AppError, errorAnswer, escapeInvisible, toAppError } from '#model'
import {
  bad,
  type Command,
  type Context,
  checkHome,
  checkOpenFiles,
  commandsUnder,
  exit,
  exitOfError,
  exitSoon,
  findId,
  help,
  openTerminal,
  type Parsed,
  parseCommand,
  plainWords,
  stopOnSignals,
  UsageError,
  untilSettled,
  withHome,
} from '#show/cli'
import { commandsFor } from './command-groups.ts'

export { exit } from '#show/cli'
export { exportSpans, readTelemetry } from './export-spans.ts'
export type { Context, Parsed }
export { checkHome, checkOpenFiles, exitSoon, openTerminal, stopOnSignals, UsageError, untilSettled }

const explain: Record<string, Command> = {
  help: {
    group: 'Set up',
    usage: 'help [COMMAND]',
    does: 'this page, or what it says of a command',
    unconfigured: true,
    words: [0, 2],
    run: async ({ print, words, json }) => {
      const commands = { ...(await commandsFor(undefined)), ...explain }
      const meant = Object.values(commandsUnder(words, commands))
      const usages = meant.map(({ usage, does }) => `usage: metier ${usage}\n  ${does}`)
      if (json) print(JSON.stringify(meant.map(({ group, usage, does }) => ({ group, usage, does }))))
      else print(words.length === 0 ? help(commands) : usages.join('\n'))
      return exit.done
    },
  },
  version: {
    group: 'Set up',
    usage: 'version',
    does: 'the version',
    unconfigured: true,
    words: [0, 0],
    run: async ({ print, version, json }) => {
      print(json ? JSON.stringify({ version }) : version)
      return exit.done
    },
  },
}

export async function readCommand(argv: readonly string[]): Promise<Parsed> {
  const [word] = plainWords(argv)
  const isOurs = word === undefined || Object.hasOwn(explain, word)
  return parseCommand(argv, isOurs ? explain : { ...(await commandsFor(word)), ...explain })
}

export async function runCommand({ command }: Parsed, context: Context): Promise<number> {
  const { ids } = command
  const [given, ...rest] = context.words
  if (ids === undefined || given === undefined) return command.run(context)
  try {
    return await command.run({ ...context, words: [await findId(context, ids, given), ...rest] })
  } catch (error) {
    throw withHome(error, context.config.home)
  }
}

/**
 * An error that is not a run's, as a document or as a line for a person; answers with the exit
 * code.
 */
export function showError(
  thrown: unknown,
  json: boolean,
  print: (text: string) => void,
  note: (text: string) => void,
): number {
  if (thrown instanceof UsageError) {
    if (json)
      print(
        JSON.stringify({
          error: { code: 'INVALID_INPUT_PARAM', message: thrown.message, context: {}, fate: 'correct' },
        }),
      )
    else note(`metier: ${escapeInvisible(thrown.message)}`)
    return exit.usage
  }
  const error = toAppError(thrown)
  if (json) print(JSON.stringify(errorAnswer(error)))
  else note(`${bad(error.code)} ${escapeInvisible(error.message)}`)
  if (!(thrown instanceof AppError) && thrown instanceof Error && !json) note(thrown.stack ?? '')
  return exitOfError(error.code)
}
