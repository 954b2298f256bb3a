/**
 * TypeScript without its types: each becomes blanks, so that every character that stays keeps its
 * line and column.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { AppError, limits } from '#model'
import type { StripAnswer, StripRequest } from './strip-worker.ts'

/** `position` is counted in the text that was given. */
type Stripped = { text: string } | { fault: string; position: Position | null }
export type Position = { line: number; column: number }

type Stripper = { worker: Worker; port: MessagePort; signal: Int32Array }
let stripper: Stripper | null = null

/**
 * The stripper's own words for a text that it understood and refuses; after anything else it is
 * broken.
 */
const refusals = ['ERR_INVALID_TYPESCRIPT_SYNTAX', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX']

/** Starts the thread before it is needed: that takes a while. */
export function warmStripper(): void {
  stripper ??= startStripper()
}

/**
 * A thread that does not answer says nothing of the text: the machine may be busy, and the same
 * text may pass when it is sent again.
 */
export function strip(text: string, msMax: number = limits.programReadMsMax): Stripped {
  stripper ??= startStripper()
  const answer = ask(stripper, { text }, msMax)
  if (answer !== null && 'text' in answer) return answer
  if (answer !== null && refusals.includes(answer.code)) {
    return { fault: answer.message, position: positionIn(answer.stack) }
  }
  stripper.port.close()
  void stripper.worker.terminate()
  stripper = null
  if (answer !== null) return { fault: 'it is nested too deeply to be read', position: null }
  const message = `Cannot read the program: what reads it did not answer within ${msMax} ms; try again`
  throw new AppError('SANDBOX_SETUP_FAILED', message, { ms: msMax })
}

function startStripper(): Stripper {
  const { port1, port2 } = new MessageChannel()
  const signal = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(new URL('./strip-worker.ts', import.meta.url), {
    workerData: { port: port2, signal },
    transferList: [port2],
    execArgv: ['--no-warnings'],
    env: {},
    stdin: false,
  })
  worker.unref()
  port1.unref()
  return { worker, port: port1, signal }
}

/** Blocks, within a bound: the text is small, and nothing can be prepared without it. */
function ask({ port, signal }: Stripper, request: StripRequest, msMax: number): StripAnswer | null {
  Atomics.store(signal, 0, 0)
  port.postMessage(request)
  Atomics.wait(signal, 0, 0, msMax)
  return receiveMessageOnPort(port)?.message ?? null
}

/** The stripper writes `:line`, then the lines around, then carets under the fault. */
function positionIn(stack: string): Position | null {
  const line = /^:(\d+)\n/.exec(stack)?.[1]
  if (line === undefined) return null
  return { line: Number(line), column: (/^( *)\^+$/m.exec(stack)?.[1]?.length ?? 0) + 1 }
}
