/**
 * What the shapes of the record that are there for speed alone earn, each against the plain way, by
 * turns in one process; the least of many rounds counts, so that other programs do not.
 */
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { newId, type RunId } from '#model'
import type { Store } from '#record'
import { pack, unpack } from '#record/writer'
import { atLeast, type Bar, event, start } from './bars.ts'

const rounds = 100
const timesARound = 20
const repeats = 5

export async function shapes(store: Store): Promise<Bar[]> {
  return [packed(), await fromMemory(store)]
}

/** As a writer gets them from 32 runs that each append an event. */
function packed(): Bar {
  const { port1, port2 } = new MessageChannel()
  const chain = { kind: 'chain' as const, run: newId<RunId>(), epoch: 1, open: null, release: null }
  const requests = Array.from({ length: 32 }, (_, id) => {
    const entries = { types: ['call.resolved' as const], ats: [id], bodies: [JSON.stringify(event)], blobs: [] }
    return { id, ask: { ...chain, after: id, entries, consumed: [], sealed: [], approvals: [] } }
  })
  const cross = <Message>(messages: Message[]) => {
    port1.postMessage(messages)
    return (receiveMessageOnPort(port2) as { message: Message[] }).message
  }
  const bar = compare('requests to the writer, plain / packed', {
    plain: () => cross(requests),
    shaped: () => cross(requests.map(pack)).map(unpack),
    each: requests.length,
  })
  port1.close()
  return bar
}

/** The events of a run of one call, for its answer. */
async function fromMemory(store: Store): Promise<Bar> {
  const chain = store.startRun(newId<RunId>(), start)
  const issued = { tool: 'w:step', args: { n: 1 }, effect: 'unsafe', effectFrom: null, definition: null } as const
  chain.append('call.issued', { call: '1', ...issued })
  chain.append('call.sent', { call: '1', attempt: 1 })
  chain.append('call.resolved', event)
  await chain.durable()
  return compare('events of a run for its answer, read / from memory', {
    plain: () => store.events(chain.run),
    shaped: () => chain.cachedEvents(),
    each: 1,
  })
}

type Ways = { plain(): unknown; shaped(): unknown; each: number }

function compare(name: string, { plain, shaped, each }: Ways): Bar {
  const pairs = Array.from({ length: repeats }, () => {
    const least = { plain: Number.POSITIVE_INFINITY, shaped: Number.POSITIVE_INFINITY }
    for (let round = 0; round < rounds; round++) {
      least.plain = Math.min(least.plain, timed(plain))
      least.shaped = Math.min(least.shaped, timed(shaped))
    }
    return least
  })
  const micros = (way: 'plain' | 'shaped') =>
    ((1000 * Math.min(...pairs.map((pair) => pair[way]))) / timesARound / each).toFixed(1)
  const ratios = pairs.map((pair) => pair.plain / pair.shaped)
  return atLeast(2, name, ratios, `${micros('plain')} against ${micros('shaped')} µs`)
}

function timed(work: () => unknown): number {
  const began = performance.now()
  for (let i = 0; i < timesARound; i++) work()
  return performance.now() - began
}
