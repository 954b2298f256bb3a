/** The main thread's side of the writer: asks go out in order and in bundles, answers come back as promises. */
import { Worker } from 'node:worker_threads'
import { AppError, type ErrorData, fromErrorData } from '#model'
import type { Ask, Reply, Request, WriterData } from './request.ts'
import { storeError } from './store-error.ts'

type Waiting = { resolve(value: unknown): void; reject(error: AppError): void }

export type WriterQueue = {
  /** Takes its place in the order now; settles when it is on disk or refused. */
  ask(ask: Ask): Promise<unknown>
  /** Was anything asked of it? */
  isUsed(): boolean
  close(): Promise<void>
}

/** The thread starts with the first ask: a process that only reads has none. */
export function openQueue(data: WriterData, onCheckpointDue: () => void): WriterQueue {
  const waiting = new Map<number, Waiting>()
  let bundle: Request[] = []
  let worker: Worker | undefined
  let failure: AppError | undefined
  let lastId = 0

  function start(): Worker {
    const thread = new Worker(new URL('./writer.ts', import.meta.url), { workerData: data })
    thread.on('message', (reply: Reply) => {
      if (reply === 'checkpoint is due') return onCheckpointDue()
      for (const { id, value, error } of reply) settle(id, value, error)
      if (waiting.size === 0) thread.unref()
    })
    thread.on('error', fail)
    thread.on('exit', () => fail(new Error('the writer has ended')))
    return thread
  }

  function settle(id: number, value: unknown, error: ErrorData | undefined): void {
    const { resolve, reject } = waiting.get(id)!
    waiting.delete(id)
    if (error) reject(fromErrorData(error))
    else resolve(value)
  }

  function fail(error: unknown): void {
    failure ??= storeError(error, 'write the record')
    for (const { reject } of waiting.values()) reject(failure)
    waiting.clear()
  }

  /** After the microtasks of this turn, so that everyone who was woken by one commit shares the next. */
  function post(): void {
    if (bundle.length === 0) return
    worker ??= start()
    worker.ref()
    worker.postMessage(bundle)
    bundle = []
  }

  return {
    ask(ask) {
      if (failure) return Promise.reject(failure)
      const id = ++lastId
      if (bundle.push({ id, ask }) === 1) queueMicrotask(post)
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
    },
    isUsed: () => lastId > 0,
    async close() {
      post()
      const thread = worker
      if (thread) {
        thread.ref()
        const ended = new Promise((resolve) => thread.once('exit', resolve))
        thread.postMessage('close')
        await ended
      }
      failure ??= new AppError('TOOL_INTERNAL_ERROR', 'Cannot write the record: the store was closed')
    },
  }
}
