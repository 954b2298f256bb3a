/**
 * One upstream server over its life: started when needed, ended when idle, started again after a
 * death.
 */
import { ProtocolError } from '@modelcontextprotocol/client'
import { type CallOptions, cancelledOf, timeoutOf } from '#catalog/tool-server'
import { isSessionLost, StdioWire } from '#catalog/wire'
import type { AppError, Json, ServerConfig, Tool, Try } from '#model'
import { abortable, isObject, openSemaphore } from '#model'
import { Backoff } from './backoff.ts'
import { withBoxWords } from './box-words.ts'
import { callTool, metaOf } from './call-tool.ts'
import { type Connection, type ConnectOptions, connect, type Era, unreachable, type Wire } from './connect.ts'
import { type Meanwhile, withInputRounds } from './input-rounds.ts'
import { listTools } from './list-tools.ts'
import { answered, failed, isTimeout, oversizedOf, stateLost } from './outcome.ts'
import { ServerGenerations } from './server-generations.ts'

export type McpClientOptions = ConnectOptions & {
  name: string
  config: ServerConfig
  era: () => Era | null
  /** A conversation was opened, in this era. */
  opened: (era: Era) => void
  /** A conversation is about to be opened; throws where there is no room for it. */
  opening?: () => void
  /**
   * Why a tool may not be called as it is now; asked when the server runs, and so has said what it
   * has.
   */
  problemOf: (tool: Tool) => AppError | null
}

type Calling = CallOptions & { meanwhile: Meanwhile }

/**
 * One conversation, from the moment it is begun; `life` counts them, `calls` are those under way in
 * it.
 */
type Generation = {
  life: number
  made: Promise<Connection>
  /** The same, once it is there. */
  connection?: Connection
  stop: AbortController
  calls: number
  retired: boolean
}

export class McpClient {
  readonly #options: McpClientOptions
  readonly #slots
  readonly #lives = new ServerGenerations()
  readonly #backoff = new Backoff()
  #line: Generation | null = null
  #life = 0
  #open = 0
  #idle: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: McpClientOptions) {
    this.#options = options
    this.#slots = openSemaphore(options.config.concurrency)
  }

  /** Asks the server what it has, starting it unless it runs; the answer goes to `changed`. */
  async list(): Promise<void> {
    this.#open++
    try {
      const running = this.#line !== null
      const connection = await this.#connect().made
      if (running) await this.#options.changed(await listTools(connection.client))
    } catch (error) {
      throw this.#unreachable(null, error)
    } finally {
      this.#left()
    }
  }

  async try(tool: Tool, args: Json, options: CallOptions): Promise<Try> {
    this.#open++
    try {
      let leave = await this.#slots.acquire(options.signal)
      const meanwhile: Meanwhile = async (asking) => {
        leave()
        const answers = await asking
        leave = await this.#slots.acquire(options.signal)
        return answers
      }
      try {
        const { line, connection } = await this.#living(options.signal)
        const problem = this.#options.problemOf(tool)
        if (problem !== null) return { outcome: 'not_sent', error: problem }
        const outcome = await this.#callIn(line, connection, tool, args, { ...options, meanwhile })
        const { wire } = connection
        return withBoxWords(outcome, this.#options.config, wire instanceof StdioWire ? wire.takeRefusals() : [])
      } finally {
        leave()
      }
    } catch (error) {
      const cancelled = options.signal.aborted
      return { outcome: 'not_sent', error: cancelled ? cancelledOf(tool.id) : this.#unreachable(null, error) }
    } finally {
      this.#left()
    }
  }

  /** Any other use of the conversation. */
  async use<Value>(work: (connection: Connection) => Promise<Value>, signal: AbortSignal): Promise<Value> {
    const leave = this.stay()
    let line: Generation | null = null
    try {
      line = this.#connect()
      return await work(await abortable(line.made, signal))
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      const { wire } = (await line?.made.catch(() => null)) ?? {}
      if (wire !== undefined && isSessionLost(wire, error)) this.#retire(line!)
      throw this.#unreachable(wire ?? null, error)
    } finally {
      leave()
    }
  }

  /** The server is not ended for want of use until what this answers with is called. */
  stay(): () => void {
    this.#open++
    return () => this.#left()
  }

  /** There is a conversation, whether it is used or not. */
  get isOpen(): boolean {
    return this.#line !== null
  }

  get isUsed(): boolean {
    return this.#open > 0 || this.#lives.areUsed
  }

  /** Ends an idle conversation; the next use begins another. */
  rest(): void {
    if (!this.isUsed) void this.#disconnect()
  }

  /** The run has used the server before: what it began there may be gone. */
  carryOver(run: string): void {
    if (this.#options.config.stateful) this.#lives.carryOver(run)
  }

  /** The run is over: the server need not be kept for it. */
  release(run: string): void {
    this.#lives.release(run)
    this.#rest()
  }

  /** Calls under way are left without an answer. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    await this.#disconnect()
  }

  /**
   * A connection that takes requests. A process that has ended is cleared away first (its group,
   * the rest of its output), which may take a second; until then a request to it could only fail.
   */
  async #living(signal: AbortSignal): Promise<{ line: Generation; connection: Connection }> {
    const resting = this.#line === null ? this.#backoff.problemAt(Date.now()) : null
    if (resting !== null) throw resting
    const line = this.#connect()
    const connection = line.connection ?? (await abortable(line.made, signal))
    const { wire } = connection
    if (!(wire instanceof StdioWire) || wire.end === null) return { line, connection }
    await abortable(wire.ended, signal)
    this.#drop(line)
    const next = this.#connect()
    return { line: next, connection: await abortable(next.made, signal) }
  }

  /** A stateful server that was restarted under a run is not called for it again. */
  async #callIn(line: Generation, connection: Connection, tool: Tool, args: Json, options: Calling): Promise<Try> {
    const { config, name } = this.#options
    const isClaimed = config.stateful && options.run !== undefined
    const takeBack = isClaimed ? this.#lives.claim(options.run!, line.life) : () => {}
    if (takeBack === null) return { outcome: 'not_sent', error: stateLost(name, tool.id) }
    const outcome = await this.#commitAndCall(line, connection, tool, args, options)
    if (outcome.outcome === 'not_sent') takeBack()
    return outcome
  }

  /** The last moment before the request is written: from here on its outcome may be unknown. */
  async #commitAndCall(
    line: Generation,
    connection: Connection,
    tool: Tool,
    args: Json,
    options: Calling,
  ): Promise<Try> {
    const { commit = async () => true } = options
    if (!(await commit())) return { outcome: 'not_sent', error: cancelledOf(tool.id) }
    return this.#call(line, connection, tool, args, options)
  }

  async #call(line: Generation, connection: Connection, tool: Tool, args: Json, options: Calling): Promise<Try> {
    const { client, wire } = connection
    const { signal, timeoutMs, whole = false, attendant: { ask, progress } = {} } = options
    const stop = new AbortController()
    const cancel = () => stop.abort(signal.reason)
    let isBroken = false
    const lost = () => {
      isBroken = true
      stop.abort(new Error('the answer broke off'))
    }
    const own = isObject(args) ? { ...args } : {}
    const receipt = wire.receipts.expect(own, lost)
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
    line.calls++
    try {
      const call = { name: tool.name, arguments: own, ...metaOf(options) }
      const how = { signal: stop.signal, timeout: timeoutMs, ...(progress && { onprogress: progress }) }
      if (ask === undefined) return answered(tool.id, await callTool(connection, tool, call, how), whole)
      const asking = { ...how, allowInputRequired: true }
      const send = (round: object) => callTool(connection, tool, { ...call, ...round }, asking)
      return answered(tool.id, await withInputRounds(send, ask, options.meanwhile), whole)
    } catch (error) {
      if (isSessionLost(wire, error)) this.#retire(line)
      const timedOut = isTimeout(error) && !isBroken
      const wasEnded = wire instanceof StdioWire && wire.isOversized
      const oversized = wasEnded || receipt.isOversized ? oversizedOf(tool.id, wasEnded) : null
      const why = signal.aborted ? cancelledOf(tool.id) : timedOut ? timeoutOf(tool.id, timeoutMs) : oversized
      return failed(tool.id, receipt, why, error, () => this.#unreachable(wire, error), whole)
    } finally {
      signal.removeEventListener('abort', cancel)
      wire.receipts.forget(receipt)
      line.calls--
      if (line.retired && line.calls === 0) void client.close()
    }
  }

  #connect(): Generation {
    if (this.#closed) throw new Error('the catalogue is closed')
    if (this.#line !== null) return this.#line
    const { name, config, era, opening, opened, changed } = this.#options
    opening?.()
    const stop = new AbortController()
    const made = connect(name, config, this.#options, era(), stop.signal).then(async (connection) => {
      connection.client.onclose = () => this.#drop(line)
      this.#backoff.succeeded()
      opened(connection.era)
      await changed(connection.listing)
      line.connection = connection
      return connection
    })
    const line: Generation = { life: ++this.#life, made, stop, calls: 0, retired: false }
    this.#line = line
    made.catch((error) => {
      this.#drop(line)
      if (!stop.signal.aborted) this.#backoff.failed(this.#unreachable(null, error), Date.now())
    })
    return line
  }

  #drop(line: Generation): void {
    if (this.#line === line) this.#line = null
  }

  /**
   * The server has forgotten our session: calls under way end in their own way, the next begins a
   * new one.
   */
  #retire(line: Generation): void {
    this.#drop(line)
    line.retired = true
  }

  async #disconnect(): Promise<void> {
    const line = this.#line
    this.#line = null
    line?.stop.abort(new Error('the server was stopped while it started'))
    const connection = await line?.made.catch(() => null)
    await connection?.client.close()
  }

  #left(): void {
    this.#open--
    this.#rest()
  }

  /** Ends the server after a while, unless it is needed again. */
  #rest(): void {
    clearTimeout(this.#idle)
    if (this.#open > 0 || this.#closed) return
    this.#idle = setTimeout(() => this.rest(), this.#options.config.idleMs).unref()
  }

  #unreachable(wire: Wire | null, error: unknown): AppError {
    return unreachable(this.#options, wire, error)
  }
}
