/**
 * The main thread's side of the record: asks are committed in order and in bundles, here or by the
 * writer thread; answers are promises.
 */
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { type AppError, fromErrorData, limits } from '#model'
import { storeError } from '#record/disk'
import type { Ack, Request, WriteRequest } from '#record/ledger'
import { openInlineCommitter } from './inline-commit.ts'
import { pack } from './packing.ts'
import type { HeadsReturned, Message, Part, Reply, WriterData } from './writer-protocol.ts'

export { pack, unpack } from './packing.ts'

type Waiting = { resolve(value: unknown): void; reject(error: AppError): void }

export type Writer = {
  /** Takes its place in the order now; settles when it is on disk or refused. */
  write(ask: WriteRequest): Promise<unknown>
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

/**
 * One place writes at a time, and the heads of the runs that we own are there: here while asks come
 * one by one, in the thread while they crowd. The thread starts when it is needed: a process that
 * only reads has none.
 */
export function openWriter(data: WriterData, onCheckpointDue: () => void): Writer {
  const waiting = new Map<number, Waiting>()
  const inline = openInlineCommitter(data)
  let bundle: Request[] = []
  let bundleNumber = 0
  let worker: Worker | undefined
  let failure: AppError | undefined
  let lastId = 0
  let isClosing = false
  /** Something of what is asked next is in the thread already. */
  let isAhead = false
  let isHere = true
  /** Settled when the thread has given back the right to write. */
  let returning: PromiseWithResolvers<void> | null = null
  let commitsHere = 0
  /** Others had their turn since the last commit here. */
  let isRested = true

  function startThread(): Worker {
    const thread = newThread(data)
    thread.on('message', (reply: Reply) => {
      if (Array.isArray(reply)) for (const ack of reply) settle(ack)
      else if (reply !== 'checkpoint is due') acquireRight(reply)
      else if (!isClosing) onCheckpointDue()
      if (waiting.size === 0 && !isClosing) thread.unref()
    })
    thread.on('error', fail)
    thread.on('exit', () => {
      worker = undefined
      fail(new Error(isClosing ? 'the store was closed' : 'its writer has ended'))
    })
    thread.unref()
    return thread
  }

  function send(message: Message): void {
    worker ??= startThread()
    worker.postMessage(message)
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
    returning?.resolve()
  }

  function acquireRight({ acks, owned }: HeadsReturned): void {
    for (const ack of acks) settle(ack)
    try {
      inline.acquireHeads(owned)
    } catch (error) {
      return fail(error)
    }
    isHere = true
    returning?.resolve()
    returning = null
    post()
  }

  function releaseRight(): void {
    if (!isHere) return
    isHere = false
    send({ owned: inline.releaseHeads() })
  }

  /**
   * After the microtasks of this turn, so that all requests of the code woken by one commit share
   * the next.
   */
  function post(): void {
    if ((bundle.length === 0 && !isAhead) || returning !== null || failure) return
    const isLone = inline.fits(bundle) && !isAhead
    if (isHere && isLone && !isRested) return
    const requests = bundle
    bundle = []
    bundleNumber += 1
    if (isHere && isLone && committed(requests)) return
    isAhead = false
    releaseRight()
    const packed = requests.map(pack)
    // A lone run may commit inline next.
    if (isLone) returning = Promise.withResolvers()
    send(isLone ? { last: packed } : packed)
    worker!.ref()
  }

  /** False where another process held the lock. */
  function committed(requests: Request[]): boolean {
    try {
      const acks = inline.commit(requests)
      if (acks === null) return false
      for (const ack of acks) settle(ack)
      commitsHere += 1
      isRested = false
      setImmediate(goOn)
    } catch (error) {
      fail(error)
    }
    return true
  }

  /**
   * One commit per turn of the event loop: a run that writes without a pause does not starve the
   * others.
   */
  function goOn(): void {
    isRested = true
    if (commitsHere % limits.tendCommits === 0 && !isClosing && !failure) send('tend')
    post()
  }

  /** Of many asks the first go ahead; they are committed with the rest. */
  function postEarly(): void {
    releaseRight()
    send({ early: bundle.map(pack) })
    isAhead = true
    bundle = []
    bundleNumber += 1
  }

  return {
    start() {
      if (!failure) worker ??= startThread()
    },
    sendAhead(part) {
      if (failure) return
      if (returning === null) releaseRight()
      send(part)
      isAhead = true
    },
    write(ask) {
      if (failure) return Promise.reject(failure)
      const id = ++lastId
      if (bundle.push({ id, ask }) === 1) queueMicrotask(post)
      if (bundle.length === limits.earlyAsksMax && returning === null) postEarly()
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
    },
    bundle: () => bundleNumber,
    isUsed: () => lastId > 0,
    async close() {
      isClosing = true
      worker?.ref()
      await returning?.promise
      isRested = true
      post()
      inline.close(worker === undefined)
      if (!worker) return fail(new Error('the store was closed'))
      send('close')
      await once(worker, 'exit')
    },
  }
}

/** Threads are loaded with the first of them: a command that only looks starts none. */
function newThread(workerData: WriterData): Worker {
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  return new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData })
}
