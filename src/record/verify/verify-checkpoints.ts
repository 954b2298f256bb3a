/**
 * The checkpoints as witnesses: those in the home's chain against their signatures and against the
 * file outside the database.
 */
import { existsSync, readFileSync } from 'node:fs'
import { type EventBodies, homeChain } from '#model'
import { isSigned, knownPublicKey, readBlob } from '#record/disk'
import { checkpointText, type Heads, isBlobReference, purgeText } from '#record/ledger'
import { BadEvent, type Scope, type Walk } from './walk-events.ts'

type Checkpoint = EventBodies['ledger.checkpointed']
type Purged = EventBodies['run.purged']

export type Witness = {
  /** Compares a home event with what the file says of its place. */
  compare(n: number, type: string, line: Buffer): void
  /** The heads that a checkpoint vouches for, once it was found to be ours. */
  heads(n: number, body: Checkpoint, previousHash: string): Heads
  /** Refuses a purge that this home has not signed, once a checkpoint has said that all are. */
  purged(n: number, body: Purged): void
  end(count: number): void
}

/**
 * The whole lines of the file, one character a byte; a torn last line is what a crash leaves, and
 * no witness.
 */
export function readCheckpoints(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'latin1').split('\n').slice(0, -1) : []
}

export function openWitness({ keys, blobs }: Scope['folders'], lines: string[], walk: Walk): Witness {
  const file = new Map<number, string>()
  let lastN = 0
  for (const line of lines) {
    const n = Number(/^\{"run":"home","n":(\d+),/.exec(line)?.[1] ?? 0)
    if (n <= lastN)
      throw new BadEvent(homeChain, lastN + 1, `checkpoints.jsonl, line ${file.size + 1}, is no checkpoint`)
    file.set(n, line)
    lastN = n
  }
  let key = knownPublicKey(keys)
  let behind = 0

  function compare(n: number, type: string, line: Buffer): void {
    const told = file.get(n)
    if (told !== undefined && told !== line.toString('latin1')) {
      throw new BadEvent(homeChain, n, 'it is not the checkpoint that stands in checkpoints.jsonl')
    }
    if (type !== 'ledger.checkpointed' || told !== undefined) return
    // A crash may have come between the database and the file, but only once: the next checkpoint
    // mends it.
    behind += 1
    if (n < lastN || behind > 1) throw new BadEvent(homeChain, n, 'checkpoints.jsonl lacks this checkpoint')
  }

  function heads(n: number, body: Checkpoint, previousHash: string): Heads {
    const text = isBlobReference(body.heads) ? readBlob(blobs, body.heads) : JSON.stringify(body.heads)
    key ??= body.key
    if (body.key !== key) throw new BadEvent(homeChain, n, `its key is not this home's`)
    if (!isSigned(checkpointText(text, body.purges), body.signature, key)) {
      throw new BadEvent(homeChain, n, 'its signature does not fit its heads')
    }
    if (walk.purgesAreSigned && body.purges === undefined)
      throw new BadEvent(homeChain, n, 'it takes back that purges are signed')
    walk.purgesAreSigned ||= body.purges !== undefined
    const heads = JSON.parse(text) as Heads
    const before = heads[homeChain]
    if (before?.n !== n - 1 || before.hash !== previousHash) {
      throw new BadEvent(homeChain, n, 'it vouches for another chain before it')
    }
    return heads
  }

  function purged(n: number, body: Purged): void {
    if (body.signature === undefined && !walk.purgesAreSigned) return
    key ??= body.key
    const isOurs = body.key === key && isSigned(purgeText(body), String(body.signature), key)
    if (!isOurs) throw new BadEvent(homeChain, n, `it purges run ${body.run} without this home's signature`)
  }

  function end(count: number): void {
    if (lastN > count)
      throw new BadEvent(homeChain, count + 1, `it is missing; checkpoints.jsonl knows ${lastN} events`)
  }

  return { compare, heads, purged, end }
}
