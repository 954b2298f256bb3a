/**
 * Keeps the process alive until a command has settled, and fails a command that nothing can settle
 * any more.
 */
import { AppError, limits } from '#model'

/**
 * Node ends a process whose event loop holds no referenced handle, whatever is still awaited (exit
 * code 13). While the command is pending, each such moment is bridged by a short timer, so that
 * unreferenced timers and threads get to fire. A command that needs `stalledMsMax` of these waits
 * for something that will never come, which is a bug and is said so.
 */
export async function untilSettled<Value>(
  command: Promise<Value>,
  stalledMsMax: number = limits.commandStalledMsMax,
): Promise<Value> {
  const stalled = Promise.withResolvers<never>()
  let heldMs = 0
  let timer: NodeJS.Timeout | undefined
  const hold = () => {
    heldMs += limits.commandHoldMs
    const wake = heldMs > stalledMsMax ? () => stalled.reject(neverSettled(stalledMsMax)) : () => {}
    timer = setTimeout(wake, limits.commandHoldMs)
  }
  process.on('beforeExit', hold)
  try {
    return await Promise.race([command, stalled.promise])
  } finally {
    process.off('beforeExit', hold)
    clearTimeout(timer)
  }
}

function neverSettled(ms: number): AppError {
  const state = `it waited ${ms} ms for something that can never come, which is a bug of ours; "metier runs" shows what is on the record`
  return new AppError('TOOL_INTERNAL_ERROR', `Cannot finish the command: ${state}`)
}
