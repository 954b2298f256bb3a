/**
 * The frame of every command: words of a command line enter; the command that they name, its
 * options, text for a terminal and an exit code leave. It refuses words and options that no command
 * has.
 */
export { artifactsOf } from './artifacts-of.ts'
export { checkHome } from './check-home.ts'
export {
  type Command,
  type Commands,
  type Context,
  commandsUnder,
  numberOption,
  type Options,
  type Parsed,
  parseCommand,
  plainWords,
  UsageError,
} from './command.ts'
export { exit, exitOfAnswer, exitOfError } from './exit.ts'
export { findId, shortId, withHome } from './find-id.ts'
export { help } from './help.ts'
export { jsonArgument } from './json-argument.ts'
export { checkOpenFiles } from './open-files.ts'
export { untilSettled } from './pending.ts'
export { exitSoon, stopOnSignals } from './signals.ts'
export { openTerminal, type Terminal } from './terminal.ts'
export { bad, counted, faint, good, mark, oneLine, strong, summary, table, warn } from './terminal-format.ts'
export { unreadOurs } from './unread-fields.ts'
export { writeTo } from './write-output.ts'
