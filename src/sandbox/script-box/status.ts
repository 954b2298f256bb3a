/**
 * What the first process of a box says of itself, in lines: that it is ready, the exit code of the
 * script, and then the files that it hands out.
 */
import type { Socket } from 'node:net'
import { type OutputOrder, type Received, receiveOutputs } from './outputs.ts'
import { readStatus } from './status-reader.ts'

type Status = {
  /** Never, where the box ends before. */
  ready: Promise<null>
  /** The script has ended, by the word of the first process. */
  exited: Promise<void>
  exitCode(): number | null
  /** Settles when the first process has said all; an error says why nothing can be given away. */
  outputs: Promise<Received | Error | null>
}

export function followStatus(socket: Socket, order: OutputOrder | null): Status {
  const ready = Promise.withResolvers<null>()
  const exited = Promise.withResolvers<void>()
  let exitCode: number | null = null

  async function follow(): Promise<Received | null> {
    const status = readStatus(socket)
    if ((await status.line()) !== 'r') return null
    ready.resolve(null)
    // The last word counts: what the script may have said in between was not the first process.
    for (let line = await status.line(); line !== null; line = await status.line()) {
      const code = /^e(\d{1,3})$/.exec(line)?.[1]
      if (code === undefined) continue
      exitCode = Number(code)
      exited.resolve()
      if (order) return await receiveOutputs(status, order)
    }
    return null
  }
  // What comes after that is not read.
  const outputs = follow()
    .catch((thrown: Error) => thrown)
    .finally(() => socket.destroy())
  return { ready: ready.promise, exited: exited.promise, exitCode: () => exitCode, outputs }
}
