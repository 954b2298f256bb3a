/** What the wire knows of each tool call: whether its request left us, and whether an answer came back. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'

export type Receipt = {
  state: 'waiting' | 'sent' | 'answered'
  /** Called when the wire knows that no answer will come. */
  lost: () => void
}

/**
 * The client hands a call's arguments to the transport as the same object, so a call is recognised by it. A tool call that
 * is not recognised is not let out: it would be one whose outcome we could not tell.
 */
export class Receipts {
  readonly #byArguments = new WeakMap<object, Receipt>()
  readonly #byId = new Map<string | number, Receipt>()

  expect(args: object, lost: () => void): Receipt {
    const receipt: Receipt = { state: 'waiting', lost }
    this.#byArguments.set(args, receipt)
    return receipt
  }

  /** Its call is over; an answer that comes later is nobody's. */
  forget(receipt: Receipt): void {
    for (const [id, known] of this.#byId) if (known === receipt) this.#byId.delete(id)
  }

  /** To be called right before a message is written. */
  leaving(message: JSONRPCMessage): Receipt | null {
    if (!('id' in message && 'method' in message && message.method === 'tools/call')) return null
    const args = (message.params as { arguments?: unknown } | undefined)?.arguments
    const receipt = typeof args === 'object' && args !== null ? this.#byArguments.get(args) : undefined
    if (receipt === undefined) throw new Error('nobody expects this tool call')
    receipt.state = 'sent'
    this.#byId.set(message.id, receipt)
    return receipt
  }

  arrived(message: JSONRPCMessage): void {
    if (!('id' in message) || 'method' in message || message.id === undefined) return
    const receipt = this.#byId.get(message.id)
    if (receipt !== undefined) receipt.state = 'answered'
    this.#byId.delete(message.id)
  }
}
