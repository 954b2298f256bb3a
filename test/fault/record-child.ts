/**
 * A process that keeps a record and says what is durable, for tests that kill, stop or starve it:
 * `node record-child.ts HOME load|hold|share`.
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { newId, type RunId, toAppError } from '#model'
import { type Chain, openStore } from '#record'
import { sampleStart } from './record-process.ts'

const [home, mode] = process.argv.slice(2)
const store = await openStore({ home: home! })
const chains = Array.from({ length: mode === 'hold' ? 1 : 3 }, () => store.startRun(newId<RunId>(), sampleStart))
await Promise.all(chains.map((chain) => chain.durable()))
say({ process: store.process, runs: chains.map(({ run }) => run) })

// All at once, then one alone: commits are made in two places, and both must hold.
for (let round = 0; mode === 'load'; round++) {
  await Promise.all(chains.map((chain, i) => load(chain, i, 20)))
  await load(chains[round % chains.length]!, round % chains.length, 20)
}
if (mode === 'share') {
  await Promise.all(chains.map((chain, i) => load(chain, i, 200)))
  await Promise.all(chains.map((chain) => chain.finish({ status: 'done', callCount: 0, ms: 1 })))
  await store.close()
}
if (mode === 'hold') {
  for await (const _ of createInterface({ input: process.stdin })) say(await tryAppend(chains[0]!))
}

/** Says each event after it is durable; some are large, so that blobs are written too. */
async function load(chain: Chain, which: number, count: number): Promise<void> {
  for (let i = 1; i <= count; i++) {
    const value = i % 20 === which ? `${chain.run} ${i} `.repeat(2000) : { i }
    const { n } = chain.append('call.resolved', {
      call: `${i}`,
      attempt: 1,
      outcome: 'answered',
      ok: true,
      value,
      ms: 0,
      by: 'mock',
    })
    await chain.durable()
    say({ run: chain.run, n })
  }
}

async function tryAppend(chain: Chain): Promise<object> {
  try {
    const { n } = chain.append('call.sent', { call: '1', attempt: 1 })
    await chain.durable()
    return { run: chain.run, n }
  } catch (error) {
    return { code: toAppError(error).code }
  }
}

/** Synchronous: what was said is out of the process, whatever comes next. */
function say(message: object): void {
  writeSync(1, `${JSON.stringify(message)}\n`)
}
