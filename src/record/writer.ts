/** The writer thread: whatever waits is committed together, and acknowledged when it is on disk. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { limits } from '#model'
import { apply, type SharedAsk } from './apply.ts'
import { checkpointIsDue, writeCheckpoint } from './checkpoint.ts'
import { inTransaction, type Ledger, openLedger } from './ledger.ts'
import { tendLog } from './log.ts'
import { openParts } from './parts.ts'
import { purgeRun } from './purge.ts'
import type { Ack, Message, Reply, Request, WriterData } from './request.ts'
import { isBusy, isDiskError, isFull, storeError } from './store-error.ts'

const port = parentPort!
const { home, process } = workerData as WriterData
const ledger = openLedger(home, process)
const parts = openParts(ledger)
const early: Request[] = []
/** That a checkpoint is due is said once, until it is no longer so. */
let isTold = false

port.on('message', (first: Message) => {
  const requests: Request[] = []
  let message: Message | undefined = first
  while (message !== undefined && message !== 'close') {
    if (Array.isArray(message)) requests.push(...early.splice(0), ...message.map(parts.complete))
    else if ('early' in message) early.push(...message.early.map(parts.prepare))
    else parts.keep(message)
    message = requests.length < limits.commitRequestsMax ? receiveMessageOnPort(port)?.message : undefined
  }
  if (requests.length > 0) port.postMessage(commit(ledger, requests) satisfies Reply)
  tendLog(ledger)
  const isDue = checkpointIsDue(ledger)
  if (isDue && !isTold) port.postMessage('checkpoint is due' satisfies Reply)
  isTold = isDue
  if (message === 'close') close(ledger)
})

function commit(ledger: Ledger, requests: Request[]): Ack[] {
  const acks = commitTogether(ledger, requests.filter(isShared))
  for (const request of requests) if (!isShared(request)) acks.push(commitAlone(ledger, request))
  return acks
}

/** One commit for all; where one of them is refused, a commit for each, so that it is refused alone. */
function commitTogether(ledger: Ledger, requests: (Request & { ask: SharedAsk })[]): Ack[] {
  if (requests.length === 0) return []
  try {
    return inTransaction(ledger, () => requests.map(({ id, ask }) => done(id, apply(ledger, ask))))
  } catch (error) {
    // The kernel reports what it could not write once, and then forgets it: this thread must not go on.
    if (isDiskError(error)) throw error
    if (requests.length === 1) return [refusal(requests[0]!.id, error)]
    return requests.flatMap((request) => commitTogether(ledger, [request]))
  }
}

function commitAlone(ledger: Ledger, { id, ask }: Request): Ack {
  try {
    if (ask.kind === 'checkpoint') return done(id, writeCheckpoint(ledger, ask.at))
    if (ask.kind === 'purge') return done(id, purgeRun(ledger, ask.run, ask.at))
    throw new Error(`"${ask.kind}" shares its transaction`)
  } catch (error) {
    if (isDiskError(error)) throw error
    return refusal(id, error)
  }
}

function isShared(request: Request): request is Request & { ask: SharedAsk } {
  return request.ask.kind !== 'checkpoint' && request.ask.kind !== 'purge'
}

function done(id: number, value: unknown): Ack {
  return value === undefined ? id : { id, value }
}

function refusal(id: number, error: unknown): Ack {
  return { id, error: storeError(error, 'write the record').toJSON() }
}

/** Leaves no log behind where nobody else reads or writes and there is room for it; else whoever closes later will. */
function close({ database }: Ledger): void {
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
  } catch (error) {
    if (!isBusy(error) && !isFull(error)) throw error
  } finally {
    database.close()
    port.close()
  }
}
