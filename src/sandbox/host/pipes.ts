/**
 * The four pipes of a box: true pipes with names, since a script may open `/dev/stdout`, which a
 * socket refuses.
 */
import { execFile } from 'node:child_process'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants

export type Pipes = {
  /** The box's ends, for its descriptors 0 to 3; closed by `handOver` once it has them. */
  theirs: number[]
  handOver(): void
  stdin: Socket
  stdout: Socket
  stderr: Socket
  /**
   * What the first process of the box says of itself, in lines: `r` when it is ready, `e` and the
   * exit code at the end of its script, then the files that it hands out.
   */
  status: Socket
}

const names = ['stdin', 'stdout', 'stderr', 'status'] as const
export const hostPath = '/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * The script's user must be able to open them again, as /dev/stdout; no other user can enter the
 * folder. The one on which the first process speaks is only handed down: where the kernel knows the
 * script as another user than us, it cannot open it.
 */
export async function makePipes(folder: string): Promise<void> {
  const files = names.map((name) => join(folder, name))
  await promisify(execFile)('mkfifo', ['-m', '666', ...files], { env: { PATH: hostPath } })
  await chmod(files[names.indexOf('status')]!, 0o600)
}

export function openPipes(folder: string): Pipes {
  const files = names.map((name) => join(folder, name))
  const opened: number[] = []
  const open = (file: string, flags: number) => {
    const descriptor = openSync(file, flags)
    opened.push(descriptor)
    return descriptor
  }
  try {
    // An end opens at once only while the other one is open.
    const [input, ...outputs] = files
    const holder = open(input!, O_RDONLY | O_NONBLOCK)
    const ours = [open(input!, O_WRONLY | O_NONBLOCK), ...outputs.map((file) => open(file, O_RDONLY | O_NONBLOCK))]
    const theirs = [open(input!, O_RDONLY), ...outputs.map((file) => open(file, O_WRONLY))]
    closeSync(holder)
    for (const file of files) rmSync(file, { force: true })
    return { theirs, handOver: () => theirs.splice(0).forEach(closeEnd), ...socketsOf(ours) }
  } catch (thrown) {
    opened.forEach(closeEnd)
    throw thrown
  }
}

function socketsOf(descriptors: number[]): Pick<Pipes, (typeof names)[number]> {
  const [stdin, stdout, stderr, status] = descriptors.map((fd, i) => {
    const socket = new Socket({ fd, readable: i > 0, writable: i === 0 })
    // A box that is gone no longer listens; how it went is told by its end.
    return socket.on('error', () => {})
  })
  return { stdin: stdin!, stdout: stdout!, stderr: stderr!, status: status! }
}

function closeEnd(descriptor: number): void {
  try {
    closeSync(descriptor)
  } catch {
    // closed already
  }
}
