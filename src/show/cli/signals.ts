/**
 * How the process ends: signals become one request to stop, with a time limit; a second signal ends
 * it at once.
 */
import { limits } from '#model'
import { exit } from './exit.ts'

/**
 *   running ── signal ──► stopping ── settled ──► the command's own exit code
 *                            ├─ second signal ──► 130 at once
 *                            └─ stopMsMax ──────► 130, with a line that says so
 *
 * Ending like this is safe: the guard process ends the servers, boxes die with their parent, runs
 * resume from the record.
 */
export function stopOnSignals(stop: AbortController, note: (text: string) => void): void {
  let firstAt: number | null = null
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (firstAt !== null) {
      // A terminal that closes sends SIGHUP to a process that is stopping already.
      if (signal !== 'SIGHUP' && now - firstAt > limits.signalRepeatMs) process.exit(exit.interrupted)
      return
    }
    firstAt = now
    setTimeout(() => {
      note(`metier: what is under way did not stop within ${limits.stopMsMax} ms; ended without waiting for it`)
      process.exit(exit.interrupted)
    }, limits.stopMsMax).unref()
    stop.abort(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
}

/**
 * Ends a process whose command has settled: by itself as soon as nothing is left to do, else after
 * `lingerMsMax`, so that a handle left open keeps no terminal waiting. What stdout has not taken
 * yet is waited for.
 */
export function exitSoon(code: number): void {
  process.exitCode = code
  const end = () => {
    if (process.stdout.writableLength > 0) exitSoon(code)
    else process.exit(code)
  }
  setTimeout(end, limits.lingerMsMax).unref()
}
