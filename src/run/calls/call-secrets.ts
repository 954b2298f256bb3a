/**
 * Secrets in the arguments of a call: where they may go. A built-in tool takes none: placeholders
 * reach it as text.
 */
import { AppError, isBuiltIn, type Json, splitToolId } from '#model'
import type { Secrets } from '#record'

/** What stood for a secret of a run that is over is no value that a tool could want. */
export function lostSecret(tool: string, args: Json, secrets: Secrets | undefined): AppError | null {
  if (isBuiltIn(tool)) return null
  if (!secrets?.reveal(args, splitToolId(tool)!.server).isLost) return null
  const details = 'a secret in its arguments was destroyed with the end of the run that it came from'
  const message = `Cannot call "${tool}": ${details}; fork at the call that brought it, or run it anew`
  return new AppError('INVALID_INPUT_PARAM', message, { param: 'args', details })
}

/** A secret goes freely only to the server it came from. */
export function leakOf(tool: string, args: Json, secrets: Secrets): string | null {
  if (isBuiltIn(tool)) return null
  const { server } = splitToolId(tool)!
  const { foreign } = secrets.reveal(args, server)
  const origins = [...new Set(foreign.map(({ from }) => (from === 'args' ? "the run's arguments" : from)))]
  return origins.length === 0 ? null : `it would send a secret of ${origins.join(', ')} to ${server}`
}
