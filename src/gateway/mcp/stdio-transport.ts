/**
 * The host that started us, over standard input and output: one message is one line. Whatever is no
 * message is answered as that, and what follows is read.
 */
import type { Readable, Writable } from 'node:stream'
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server'
import { requestIdOf } from '#gateway/http'
import { escapeLineSeparators, isObject, isWithinDepth, limits } from '#model'

type Id = string | number | null

const parseError = -32700
const invalidRequest = -32600
const serverError = -32000

export class StdioTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: Transport['onclose']
  onerror?: Transport['onerror']
  readonly #input: Readable
  readonly #output: Writable
  /** Requests that were not answered: an answer finds its request by nothing but the id. */
  readonly #open = new Set<unknown>()
  /** Of the line that is being read; of one that is too long, only its ends. */
  #line: Buffer[] = []
  #lineBytes = 0
  #isClosed = false

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  async start(): Promise<void> {
    const end = () => void this.close()
    this.#input.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#input.on('end', end).on('close', end)
    this.#input.on('error', (error) => this.onerror?.(error))
    this.#output.on('error', (error) => {
      if (!this.#isClosed) this.onerror?.(error)
      end()
    })
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(end)
  }

  /** A host that does not read is read no further; what it is only told meanwhile is left out. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the host has closed the connection'))
    if (!('method' in message)) this.#open.delete(message.id)
    const isBehind = this.#output.writableLength > limits.stdioUnreadBytesMax
    if (isBehind && isJSONRPCNotification(message)) return Promise.resolve()
    if (isBehind && !this.#input.isPaused()) {
      this.#input.pause()
      this.#output.once('drain', () => this.#input.resume())
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const line = `${escapeLineSeparators(JSON.stringify(message))}\n`
    this.#output.write(line, (error) => (error ? reject(error) : resolve()))
    return promise
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#input.removeAllListeners('data').pause()
    this.onclose?.()
  }

  #read(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end))
      start = end + 1
      const [line, bytes] = [Buffer.concat(this.#line).toString('utf8'), this.#lineBytes]
      this.#line = []
      this.#lineBytes = 0
      if (this.#isClosed) return
      if (bytes > limits.stdioMessageBytesMax) this.#refuse(idInPart(line), invalidRequest, tooLong)
      else if (line.trim() !== '') this.#understand(line)
    }
    this.#keep(chunk.subarray(start))
  }

  #keep(part: Buffer): void {
    this.#line.push(part)
    this.#lineBytes += part.length
    if (this.#lineBytes <= limits.stdioMessageBytesMax) return
    const kept = Buffer.concat(this.#line)
    this.#line = [kept.subarray(0, endBytes), kept.subarray(Math.max(endBytes, kept.length - endBytes))]
  }

  /** Several messages in one line are several messages. */
  #understand(line: string): void {
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      return this.#refuse(null, parseError, 'Cannot parse the message: it is not JSON')
    }
    for (const message of Array.isArray(value) && value.length > 0 ? value : [value]) this.#take(message)
  }

  #take(message: unknown): void {
    const refuse = (why: string, code = invalidRequest) => this.#refuse(requestIdOf(message), code, why)
    if (!isWithinDepth(message, limits.httpBodyDepthMax)) return refuse(tooDeep)
    if (!isJSONRPCRequest(message)) {
      if (!isJSONRPCNotification(message) && !isJSONRPCResponse(message))
        return refuse('Cannot read the message: it is neither a request nor a notification nor an answer')
      // A cancelled request gets no answer.
      if ('method' in message && message.method === 'notifications/cancelled' && isObject(message.params))
        this.#open.delete(message.params.requestId)
      return this.onmessage?.(message)
    }
    // Its id is that of the other, so the refusal has none.
    if (this.#open.has(message.id)) return this.#refuse(null, invalidRequest, sameId)
    if (this.#open.size >= limits.stdioRequestsMax) return refuse(tooMany, serverError)
    this.#open.add(message.id)
    this.onmessage?.(message)
  }

  #refuse(id: Id, code: number, message: string): void {
    this.onerror?.(new Error(message))
    const answer = { jsonrpc: '2.0', id, error: { code, message } }
    if (id === null || !this.#open.has(id)) this.send(answer as JSONRPCMessage).catch(() => {})
  }
}

const tooLong = `Cannot read the message: at most ${limits.stdioMessageBytesMax} bytes are read; send less at once`
const tooDeep = `Cannot read the message: it is nested more deeply than ${limits.httpBodyDepthMax} levels; send it flatter`
const sameId = 'Cannot answer: another request has the same id'
const tooMany = `Cannot answer: ${limits.stdioRequestsMax} requests are open; wait for an answer`

/** So much of either end of a line that is too long is kept, for its id. */
const endBytes = 512

/**
 * The id of a message whose ends are all that there is: as its first member, its second after the
 * version, or its last, as libraries write it.
 */
function idInPart(line: string): Id {
  const id = String.raw`"id":(\d{1,15}|"[^"\\]{1,128}")`
  const [, text] = new RegExp(`^\\{(?:"jsonrpc":"2\\.0",)?${id},|,${id}\\}$`).exec(line.trim())?.filter(Boolean) ?? []
  return text === undefined ? null : JSON.parse(text)
}
