/**
 * One child process in its box: lines go in, lines come out in the same order, and its death ends
 * every wait.
 */
import { type ChildProcess, type IOType, type SpawnOptions, type StdioOptions, spawn } from 'node:child_process'
import { openSync, readdirSync, readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { AppError, limits } from '#model'
import { killGroup, killRest } from '#sandbox/host'
import { BoxDeath, spawnFailure } from './start-box.ts'

export type BoxCommand = {
  file: string
  args: string[]
  /** What its descriptor 3 reads. */
  seccomp: Buffer | null
  /** Whether its descriptor 4 waits for the word that the box is ready. */
  startsWithUs?: true
  /** Takes away what the box leaves on disk. */
  leave?: () => void
}

export type Box = {
  /** The line that answers this one. */
  ask(line: string): Promise<string>
  readonly alive: boolean
  kill(reason: AppError): void
  /** Resolved when the process is gone. */
  gone: Promise<void>
}

type Waiting = { resolve(line: string): void; reject(error: AppError): void }

export function openBox({ file, args, seccomp, startsWithUs, leave = () => {} }: BoxCommand): Box {
  const stdio = stdioOf(seccomp !== null, startsWithUs === true)
  // In a group of its own, which we end whole; a key pressed at our terminal is for us, and we
  // decide what becomes of the box.
  const started = startProcess(file, args, { env: {}, cwd: '/', stdio, detached: true })
  if (started instanceof AppError) return neverOpened(started, leave)
  const child = started
  const waiting: Waiting[] = []
  let death: AppError | null = null
  const stderr = keepTail(child.stderr!)

  function die(error: AppError): void {
    if (death !== null) return
    death = error
    killGroup(child)
    for (const one of waiting.splice(0)) one.reject(error)
  }
  const died = (how: string, end: string | number | null = null) => die(new BoxDeath(how, end, stderr()))

  child.on('error', (error) => died(`could not start (${spawnFailure(error)})`))
  const gone = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('exit', () => killRest(child))
    child.once('close', (code, signal) => {
      died(`ended with ${signal ?? code}`, signal ?? code)
      resolve()
    })
  }).then(leave)
  const answer = (line: string) => {
    const first = waiting.shift()
    if (first) first.resolve(line)
    else died('spoke out of turn')
  }
  readLines(child, answer, died)
  // A child that closed a pipe will never answer; its exit, which follows, is reported.
  child.stdin!.on('error', () => child.kill('SIGKILL'))
  child.stdout!.on('end', () => child.kill('SIGKILL'))
  if (seccomp) (child.stdio[3] as Writable).on('error', () => {}).end(seccomp)
  if (startsWithUs) {
    const starting = (child.stdio[4] as Writable).on('error', () => {})
    child.stdout!.once('data', () => starting.end('\n'))
  }

  const send = lineSender(child.stdin!)
  return {
    ask: (line) =>
      new Promise((resolve, reject) => {
        if (death !== null) return reject(death)
        waiting.push({ resolve, reject })
        send(line)
      }),
    get alive() {
      return death === null
    },
    kill: die,
    gone,
  }
}

/**
 * Lines that are asked together go together: each alone would be a call of the system here and
 * there.
 */
function lineSender(stdin: Writable): (line: string) => void {
  let unsent = ''
  function flush(): void {
    const lines = unsent
    unsent = ''
    stdin.write(lines)
  }
  return (line) => {
    if (unsent === '') queueMicrotask(flush)
    unsent += `${line}\n`
  }
}

/**
 * A process that the system does not start at all has no streams: what is said of it is all there
 * is.
 */
function startProcess(file: string, args: string[], options: SpawnOptions): ChildProcess | AppError {
  const refused = (error: NodeJS.ErrnoException) => {
    const message = `Cannot open a box: its process could not be started: ${spawnFailure(error)}`
    return new AppError('SANDBOX_SETUP_FAILED', message, { spawn: error.code ?? null }, error)
  }
  try {
    const child = spawn(file, args, options)
    if (child.stdin && child.stdout && child.stderr) return child
    child.on('error', () => {})
    // Node makes no streams where it could not open the pipes; the error itself comes later.
    return refused(Object.assign(new Error('the pipes could not be opened'), { code: 'EMFILE' }))
  } catch (error) {
    return refused(error as NodeJS.ErrnoException)
  }
}

function neverOpened(death: AppError, leave: () => void): Box {
  return { ask: () => Promise.reject(death), alive: false, kill: () => {}, gone: Promise.resolve().then(leave) }
}

/**
 * Three streams and what its start needs; a descriptor that we were started with and that would
 * pass on is covered by nothing.
 */
function stdioOf(...needed: boolean[]): StdioOptions {
  covered ??= coverInheritable()
  const more = needed.map((isNeeded) => (isNeeded ? 'pipe' : 'ignore'))
  const stdio: (IOType | number)[] = ['pipe', 'pipe', 'pipe', ...more]
  for (const { descriptor, cover } of covered) {
    while (stdio.length <= descriptor) stdio.push('ignore')
    if (stdio[descriptor] === 'ignore') stdio[descriptor] = cover
  }
  return stdio
}

let covered: { descriptor: number; cover: number }[] | null = null
const closedOnExecute = 0o2000000

/**
 * What Node itself opens is closed in a child; only what our own parent left open is not, so it is
 * found once.
 */
function coverInheritable(): { descriptor: number; cover: number }[] {
  try {
    const open = readdirSync('/proc/self/fd').map(Number)
    const inheritable = open.filter((descriptor) => descriptor > 2 && passesOn(descriptor))
    const cover = inheritable.length > 0 ? openSync('/dev/null', 'r') : -1
    return inheritable.map((descriptor) => ({ descriptor, cover }))
  } catch {
    return []
  }
}

function passesOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closedOnExecute) === 0
  } catch {
    return false
  }
}

/**
 * A child that never ends its line is stopped: what a turn may say is bounded by the engine's
 * memory.
 */
function readLines(child: ChildProcess, onLine: (line: string) => void, died: (how: string) => void): void {
  let chunks: Buffer[] = []
  let size = 0
  child.stdout!.on('data', (chunk: Buffer) => {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      onLine(Buffer.concat([...chunks, chunk.subarray(from, at)]).toString())
      chunks = []
      size = 0
      from = at + 1
    }
    chunks.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > 2 * limits.programMemoryBytesMax) died('said too much')
  })
}

function keepTail(stream: Readable): () => string {
  let tail = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-limits.boxStderrBytesMax)
  })
  return () => tail
}
