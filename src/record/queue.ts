/** The main thread's side of the writer: asks go out in order and in bundles, answers come back as promises. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type AppError, fromErrorData, limits } from '#model'
import { type Ack, type Ask, type Part, pack, type Reply, type Request, type WriterData } from './request.ts'
import { storeError } from './store-error.ts'

type Waiting = { resolve(value: unknown): void; reject(error: AppError): void }

export type WriterQueue = {
  /** Takes its place in the order now; settles when it is on disk or refused. */
  ask(ask: Ask): Promise<unknown>
  /** Sends the first events of an ask that is yet to come. */
  sendAhead(part: Part): void
  /** Starts the thread, which takes a while, before the first ask. */
  start(): void
  /** The number of the bundle that is being filled: an ask in it may still grow. */
  bundle(): number
  /** Was anything asked of it? */
  isUsed(): boolean
  close(): Promise<void>
}

/** The thread starts when it is needed: a process that only reads has none. */
export function openQueue(data: WriterData, onCheckpointDue: () => void): WriterQueue {
  const waiting = new Map<number, Waiting>()
  let bundle: Request[] = []
  let bundleNumber = 0
  let worker: Worker | undefined
  let failure: AppError | undefined
  let lastId = 0
  let isClosing = false
  let isEarly = false

  function startThread(): Worker {
    const thread = new Worker(new URL('./writer.ts', import.meta.url), { workerData: data })
    thread.on('message', (reply: Reply) => {
      if (reply !== 'checkpoint is due') for (const ack of reply) settle(ack)
      else if (!isClosing) onCheckpointDue()
      if (waiting.size === 0 && !isClosing) thread.unref()
    })
    thread.on('error', fail)
    thread.on('exit', () => fail(new Error(isClosing ? 'the store was closed' : 'its writer has ended')))
    thread.unref()
    return thread
  }

  function settle(ack: Ack): void {
    const { id, value, error }: Exclude<Ack, number> = typeof ack === 'number' ? { id: ack } : ack
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
    if (bundle.length === 0 && !isEarly) return
    isEarly = false
    worker ??= startThread()
    worker.ref()
    worker.postMessage(bundle.map(pack))
    bundle = []
    bundleNumber += 1
  }

  /** Of many asks the first go ahead; they are committed with the rest. */
  function postEarly(): void {
    worker ??= startThread()
    worker.postMessage({ early: bundle.map(pack) })
    isEarly = true
    bundle = []
    bundleNumber += 1
  }

  return {
    start() {
      worker ??= startThread()
    },
    sendAhead(part) {
      worker ??= startThread()
      if (!failure) worker.postMessage(part)
    },
    ask(ask) {
      if (failure) return Promise.reject(failure)
      const id = ++lastId
      if (bundle.push({ id, ask }) === 1) queueMicrotask(post)
      if (bundle.length === limits.earlyAsksMax) postEarly()
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
    },
    bundle: () => bundleNumber,
    isUsed: () => lastId > 0,
    async close() {
      isClosing = true
      post()
      if (!worker || failure) return fail(new Error('the store was closed'))
      worker.ref()
      worker.postMessage('close')
      await once(worker, 'exit')
    },
  }
}
