/**
 * A server as a child process: one JSON message per line, a process group of its own, a minimal
 * environment.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { descendantsOf, endMarked, enterScript, killAll, type ServerReaper } from '#catalog/processes'
import { escapeLineSeparators, isObject, limits, within } from '#model'
import type { ServerBox } from '#sandbox'
import { normaliseResponse, Receipts, refuseDeep } from './receipts.ts'
import { lineCutter, tailKeeper } from './split-lines.ts'

type StdioOptions = {
  command: string
  args: string[]
  env: Record<string, string>
  cwd: string
  guard: ServerReaper
  /** Puts a box around the command; absent: it runs unconfined. */
  box?: (signal: AbortSignal) => Promise<ServerBox>
}

export class StdioWire implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: Transport['onclose']
  onerror?: Transport['onerror']
  readonly receipts = new Receipts()
  readonly hasSession = false
  readonly #options: StdioOptions
  readonly #tail = tailKeeper(limits.upstreamStderrBytesMax)
  #child: ChildProcess | null = null
  #ended: Promise<void> = Promise.resolve()
  #closing: Promise<void> | null = null
  #over = false
  #graceUntil = 0
  /** It wrote a message that is larger than any may be, and was ended for it. */
  isOversized = false
  #box: ServerBox | null = null
  readonly #stopped = new AbortController()

  constructor(options: StdioOptions) {
    this.#options = options
  }

  /** With `stderr` this is how the client tells that we speak over a pipe. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** The end of what the server wrote there. */
  get stderr(): string {
    return this.#tail.text()
  }

  /** Connections that its box refused since this was asked last. */
  takeRefusals(): string[] {
    return this.#box?.takeRefusals() ?? []
  }

  /** Why it ended, once it has. */
  get end(): string | null {
    const { exitCode = null, signalCode = null } = this.#child ?? {}
    if (signalCode !== null) return `it was ended by ${signalCode}`
    if (exitCode === 127 && isMissing(this.#options.command, this.stderr)) {
      return `"${this.#options.command}" was not found`
    }
    // The shell also says this when a folder of the path may not be read.
    if (exitCode === 126) return `"${this.#options.command}" was not found, or may not be run`
    return exitCode === null ? null : `it ended with code ${exitCode}`
  }

  /**
   * Resolves when its process has ended and everything that it wrote or left behind is dealt with.
   */
  get ended(): Promise<void> {
    return this.#ended
  }

  async start(): Promise<void> {
    const { guard, box } = this.#options
    this.#box = (await box?.(this.#stopped.signal)) ?? null
    if (this.#closing !== null) throw new Error('the server was stopped while it started')
    const { command, args, env, cwd } = this.#box?.command ?? this.#options
    const child = spawn('/bin/sh', ['-c', enterScript(env, guard.firstMark), 'sh', command, ...args], {
      cwd,
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', guard.input()],
    })
    this.#child = child
    const drained = once(child, 'close').catch(() => {})
    await once(child, 'spawn').catch((error) => {
      throw existsSync(cwd) ? error : new Error(`its folder "${cwd}" does not exist`)
    })
    guard.remember(child.pid!)
    this.#listen(child)
    this.#ended = once(child, 'exit').then(async () => {
      await this.#endGroup(child.pid!)
      // An answer that was written before the end is still read.
      await within(drained, limits.upstreamDrainMsMax)
      this.#finish()
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable || this.end !== null) throw new Error('the server is not running')
    if (stdin.writableLength > limits.upstreamUnreadBytesMax) {
      void this.close()
      throw new Error('the server does not read what it is sent')
    }
    const line = `${escapeLineSeparators(JSON.stringify(message))}\n`
    const receipt = this.receipts.leaving(message)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    stdin.write(line, (error) => {
      if (!error) return resolve()
      // The system did not take the end of the line, so the server, which waits for it, has seen no
      // request.
      if (receipt?.state === 'sent') receipt.state = 'waiting'
      reject(error)
      // It does not listen any more, even if it lives.
      void this.close()
    })
    return promise
  }

  /**
   * End of input, then SIGTERM, then SIGKILL to the whole group and to those below the server that
   * left it.
   */
  close(): Promise<void> {
    this.#closing ??= this.#stop()
    return this.#closing
  }

  async #stop(): Promise<void> {
    this.#stopped.abort()
    const child = this.#child
    if (this.#over || child?.pid === undefined) return this.#finish()
    const below = descendantsOf(child.pid)
    this.#graceUntil = Date.now() + limits.upstreamStopMsMax
    child.stdin?.end()
    await this.#endedWithin(limits.upstreamEndOfInputMsMax)
    if (!this.#over) signal(child.pid, 'SIGTERM')
    await this.#endedWithin(this.#graceUntil - Date.now())
    if (!this.#over) signal(child.pid, 'SIGKILL')
    killAll(below)
    await this.#endedWithin(limits.upstreamDrainMsMax)
    this.#finish()
  }

  #listen(child: ChildProcess): void {
    const cut = lineCutter(limits.upstreamLineBytesMax, (line) => this.#received(line))
    child.stdout!.on('data', (chunk: Buffer) => {
      if (cut(chunk)) return
      this.isOversized = true
      this.onerror?.(new Error(`the server wrote a line of more than ${limits.upstreamLineBytesMax} bytes`))
      child.stdout!.removeAllListeners('data').resume()
      signal(child.pid!, 'SIGKILL')
    })
    // A server that closes its output will not answer any more, even if it lives.
    child.stdout!.on('end', () => setTimeout(() => void this.close(), limits.upstreamDrainMsMax).unref())
    child.stderr!.on('data', (chunk: Buffer) => this.#tail.add(chunk))
    child.stdin!.on('error', (error) => this.onerror?.(error))
    child.on('error', (error) => this.onerror?.(error))
  }

  #received(line: string): void {
    if (line.trim() === '') return
    try {
      const value: unknown = JSON.parse(line.replace(/^\ufeff/, ''))
      for (const message of Array.isArray(value) ? value : [value]) {
        if (!isObject(message) || message.jsonrpc !== '2.0') throw new Error('not a JSON-RPC message')
        refuseDeep(message)
        const heard = normaliseResponse(message) as JSONRPCMessage
        this.receipts.arrived(heard)
        this.onmessage?.(heard)
      }
    } catch (error) {
      this.onerror?.(new Error(`the server wrote a line that is no message: ${(error as Error).message}`))
    }
  }

  /**
   * Whatever the server left behind in its group gets the rest of the grace, if it was asked to
   * end; then it dies, and what has gone elsewhere.
   */
  async #endGroup(group: number): Promise<void> {
    while (Date.now() < this.#graceUntil && signal(group, 0)) await pause(limits.upstreamGonePollMs)
    signal(group, 'SIGKILL')
    await endMarked(this.#options.guard.firstMark + group)
    this.#options.guard.forget(group)
  }

  async #endedWithin(ms: number): Promise<void> {
    if (!this.#over && ms > 0) await within(this.#ended, ms)
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#box?.close()
    this.onclose?.()
  }
}

/**
 * True of the words of the shell that was to become the command; what the command itself could not
 * find is another matter.
 */
function isMissing(command: string, words: string): boolean {
  return (
    words.includes(command) &&
    /^\S*sh: .*exec: .*: not found$|^\S*env: .*: No such file or directory$/.test(words.trim())
  )
}

/** False when there is no such group any more. */
function signal(group: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, name)
  } catch {
    return false
  }
}
