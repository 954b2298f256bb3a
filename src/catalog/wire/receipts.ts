/**
 * What the wire knows of each tool call: whether its request left us, and whether an answer came
 * back.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isObject, isWithinDepth, limits, toText } from '#model'

export type Receipt = {
  state: 'waiting' | 'sent' | 'answered'
  /** Called when the wire knows that no answer will come. */
  lost: () => void
  /** More came than one message may have, and was not read. */
  isOversized: boolean
}

/**
 * The calls under way on one wire. The client hands a call's arguments to the transport as the same
 * object, and nothing else that it would not send, so a call is recognised by them. A tool call
 * that is not recognised is not let out: it would be one whose outcome we could not tell.
 */
export class Receipts {
  readonly #byArguments = new Map<unknown, Receipt>()
  readonly #byId = new Map<string | number, Receipt>()

  expect(args: object, lost: () => void): Receipt {
    const receipt: Receipt = { state: 'waiting', lost, isOversized: false }
    this.#byArguments.set(args, receipt)
    return receipt
  }

  /** Its call is over; an answer that comes later belongs to no call. */
  forget(receipt: Receipt): void {
    for (const [args, known] of this.#byArguments) if (known === receipt) this.#byArguments.delete(args)
    for (const [id, known] of this.#byId) if (known === receipt) this.#byId.delete(id)
  }

  /** To be called right before a message is written. */
  leaving(message: JSONRPCMessage): Receipt | null {
    if (!('id' in message && 'method' in message && message.method === 'tools/call')) return null
    const args = (message.params as { arguments?: unknown } | undefined)?.arguments
    const receipt = this.#byArguments.get(args)
    if (receipt === undefined) throw new Error('this tool call is not expected')
    receipt.state = 'sent'
    this.#byId.set(message.id, receipt)
    return receipt
  }

  /** Of the answer to this message; without one, of all that are open. */
  oversized(message: unknown): void {
    const { id } = isObject(message) ? message : {}
    for (const [open, receipt] of this.#byId) if (id === undefined || id === open) receipt.isOversized = true
  }

  arrived(message: JSONRPCMessage): void {
    if (!('id' in message) || 'method' in message) return
    // As the client does: a server may give a number back as text. What is neither is no answer to
    // it, nor to us.
    if (typeof message.id !== 'number' && typeof message.id !== 'string') return
    const id = Number(message.id)
    const receipt = this.#byId.get(id)
    if (receipt !== undefined) receipt.state = 'answered'
    this.#byId.delete(id)
  }
}

/**
 * What has the id of a request and is no answer by the letter is one all the same: nothing else
 * would ever come.
 */
export function normaliseResponse(message: Record<string, unknown>): Record<string, unknown> {
  const { id, result, error } = message
  if ('method' in message || (typeof id !== 'number' && typeof id !== 'string')) return message
  const isResult = isObject(result) && error === undefined
  const isError = isObject(error) && Number.isInteger(error.code) && typeof error.message === 'string'
  if (isResult || (isError && result === undefined)) return message
  const said = `the server answered with what is no answer: ${toText(message).slice(0, limits.previewCharactersMax)}`
  return { jsonrpc: '2.0', id, error: { code: -32603, message: said } }
}

/**
 * An answer too deep to walk becomes an error. In place: over a network the client reads the same
 * message after us.
 */
export function refuseDeep(message: Record<string, unknown>): void {
  if ('method' in message || isWithinDepth(message, limits.upstreamDepthMax)) return
  const said = `the server answered with what is nested more deeply than ${limits.upstreamDepthMax} levels`
  delete message.result
  message.error = { code: -32603, message: said }
}
