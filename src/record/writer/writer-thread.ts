/** The writer thread: whatever waits is committed together, and acknowledged when it is on disk. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { limits } from '#model'
import type { OwnedHeads, Request } from '#record/ledger'
import { checkpointIsDue, closeLedger, commit, lastSeq, maintainWal, openLedger } from '#record/ledger'
import { openParts } from './write-parts.ts'
import type { Message, Reply, WriterData } from './writer-protocol.ts'

const port = parentPort!
const { home, process } = workerData as WriterData
const ledger = openLedger(home, process)
const parts = openParts(ledger)
const early: Request[] = []
/** That a checkpoint is due is said once, until it is no longer so. */
let isTold = false

port.on('message', (first: Message) => {
  const requests: Request[] = []
  let isLast = false
  let message: Message | undefined = first
  while (message !== undefined && typeof message !== 'string') {
    if (Array.isArray(message)) requests.push(...early.splice(0), ...message.map(parts.complete))
    else if ('early' in message) early.push(...message.early.map(parts.prepare))
    else if ('owned' in message) ledger.owned = message.owned
    else if ('last' in message) {
      requests.push(...early.splice(0), ...message.last.map(parts.complete))
      isLast = true
    } else parts.keep(message)
    message = requests.length < limits.commitRequestsMax ? receiveMessageOnPort(port)?.message : undefined
  }
  const acks = requests.length > 0 ? commit(ledger, requests) : []
  // In one message: a caller that learns that it is done can write on.
  if (isLast) reply({ acks, owned: giveUp() })
  else if (acks.length > 0) reply(acks)
  // Others wrote meanwhile.
  if (message === 'tend') ledger.pending.lastSeq = lastSeq(ledger)
  tend()
  if (message === 'close') close()
})

/** The heads go with the right to write: who has them is the only one who does. */
function giveUp(): OwnedHeads {
  const { owned } = ledger
  ledger.owned = new Map()
  return owned
}

/** After the answers, so that no writer waits for it. */
function tend(): void {
  maintainWal(ledger)
  const isDue = checkpointIsDue(ledger)
  if (isDue && !isTold) reply('checkpoint is due')
  isTold = isDue
}

function reply(message: Reply): void {
  port.postMessage(message)
}

/** What was sent behind it would still be handed out: parts of a write that was never asked for. */
function close(): void {
  port.removeAllListeners('message')
  closeLedger(ledger)
  port.close()
}
