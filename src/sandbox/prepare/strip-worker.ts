/**
 * A thread around Node's type stripper: a hostile text can break the stripper for good, and then
 * only this thread is lost.
 */
import { stripTypeScriptTypes } from 'node:module'
import { type MessagePort, workerData } from 'node:worker_threads'

export type StripRequest = { text: string }
export type StripAnswer = { text: string } | { code: string; message: string; stack: string }

const { port, signal } = workerData as { port: MessagePort; signal: Int32Array }

port.on('message', ({ text }: StripRequest) => {
  port.postMessage(strip(text))
  Atomics.store(signal, 0, 1)
  Atomics.notify(signal, 0)
})

function strip(text: string): StripAnswer {
  try {
    return { text: stripTypeScriptTypes(text) }
  } catch (thrown) {
    const { code, message, stack } = thrown as Error & { code?: string }
    return { code: code ?? '', message, stack: stack ?? '' }
  }
}
