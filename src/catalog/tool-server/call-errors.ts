/** Why a call of a tool ended without an answer, whichever server has the tool. */
import { AppError } from '#model'

export function timeoutOf(tool: string, timeoutMs: number): AppError {
  return new AppError('CALL_TIMEOUT', `Cannot wait any longer for "${tool}": no answer in ${timeoutMs} ms`, {
    tool,
    timeoutMs,
  })
}

export function cancelledOf(tool: string): AppError {
  return new AppError('CANCELLED', `Cannot go on with "${tool}": the call was cancelled`, { tool })
}
