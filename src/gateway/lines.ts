/** A host at the other end of our standard input and output: one message is one line, in both directions. */
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { lineCutter } from '#catalog'
import { inOneLine, isObject, limits } from '#model'

/** What a message must be beyond an object of JSON-RPC, the server judges that it is for. */
export class LinesTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: Transport['onclose']
  onerror?: Transport['onerror']
  readonly #input: Readable
  readonly #output: Writable
  #isClosed = false

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  async start(): Promise<void> {
    const cut = lineCutter(limits.stdioMessageBytesMax, (line) => this.#received(line))
    const end = () => void this.close()
    this.#input.on('data', (chunk: Buffer) => {
      if (this.#isClosed || cut(chunk)) return
      this.onerror?.(new Error(`the host wrote a line of more than ${limits.stdioMessageBytesMax} bytes`))
      end()
    })
    this.#input.on('error', (error) => this.onerror?.(error))
    this.#input.on('end', end).on('close', end)
    this.#output.on('error', (error) => {
      if (!this.#isClosed) this.onerror?.(error)
      end()
    })
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(end)
  }

  /** Settled when the line has left us, so that nobody writes faster than the host reads. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error('the host is gone')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#output.write(`${inOneLine(JSON.stringify(message))}\n`, (error) => (error ? reject(error) : resolve()))
    return promise
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#input.pause()
    this.onclose?.()
  }

  #received(line: string): void {
    if (this.#isClosed || line.trim() === '') return
    try {
      const message: unknown = JSON.parse(line)
      if (!isObject(message) || message.jsonrpc !== '2.0') throw new Error('not a JSON-RPC message')
      this.onmessage?.(message as JSONRPCMessage)
    } catch (error) {
      this.onerror?.(new Error(`the host wrote a line that is no message: ${(error as Error).message}`))
    }
  }
}
