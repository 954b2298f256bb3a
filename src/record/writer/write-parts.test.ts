/** Long writes go in parts: to a reader they are one, in one commit, or they are not there. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { limits } from '#model'
import type { Chain } from '#record'
import { verify } from '#record/verify'
import { openSample, startSample } from '#test'

const long = 2 * limits.writePartEventsMax + 7

function appendLong(chain: Chain): void {
  for (let i = 0; i < long; i++) chain.append('call.sent', { call: 'é', attempt: i })
}

test('a long write is one commit, and its chain is as if it had come whole', async (t) => {
  let now = 1763000000000
  const store = await openSample(t, { now: () => now-- })
  const chain = startSample(store)
  await chain.durable()
  const reader = new DatabaseSync(join(store.home, 'metier.db'), { readOnly: true })
  const version = () => reader.prepare('PRAGMA data_version').get()!.data_version as number
  const before = version()
  appendLong(chain)
  await chain.durable()
  assert.equal(version() - before, 1)
  reader.close()
  const events = store.events(chain.run)
  assert.deepEqual(
    events.slice(1).map(({ body }) => (body as { attempt: number }).attempt),
    Array.from({ length: long }, (_, i) => i),
  )
  assert.deepEqual(await verify(store.home), { ok: true, events: events.length + 1 })
})

test('parts that come while an earlier write waits, of one run or of several, find their place', async (t) => {
  const store = await openSample(t)
  const chains = Array.from({ length: 3 }, () => startSample(store))
  const waits: Promise<void>[] = []
  for (let round = 0; round < 3; round++) {
    for (const chain of chains) appendLong(chain)
    waits.push(...chains.map((chain) => chain.durable()))
    for (const chain of chains) chain.append('run.logged', { lines: [] })
    await null
  }
  await Promise.all([...waits, ...chains.map((chain) => chain.durable())])
  for (const { run } of chains) assert.equal(store.events(run).length, 1 + 3 * (long + 1))
  assert.equal((await verify(store.home)).ok, true)
})

test('parts of an owner that has lost its run are refused with the rest, and never mixed with those of the next', async (t) => {
  const store = await openSample(t)
  const old = startSample(store)
  await old.durable()
  appendLong(old)
  const taken = await store.takeRun(old.run)
  appendLong(taken)
  await assert.rejects(old.durable(), { code: 'RUN_OWNED' })
  await taken.durable()
  assert.equal(store.events(old.run).length, 1 + long)
  assert.equal((await verify(store.home)).ok, true)
})

test('many that ask at once share one commit, whoever went ahead; one that is refused is refused alone', async (t) => {
  const store = await openSample(t)
  const chains = Array.from({ length: 2 * limits.earlyAsksMax + 3 }, () => startSample(store))
  await Promise.all(chains.map((chain) => chain.durable()))
  const database = new DatabaseSync(join(store.home, 'metier.db'), { timeout: 5000 })
  const version = () => database.prepare('PRAGMA data_version').get()!.data_version as number
  const before = version()
  const waits = chains.map((chain) => {
    chain.append('call.sent', { call: '1', attempt: 1 })
    return chain.durable()
  })
  chains[0]!.append('run.logged', { lines: [] })
  await Promise.all([...waits, chains[0]!.durable()])
  assert.equal(version() - before, 1)

  database.prepare('UPDATE run SET epoch = 9 WHERE run = ?').run(chains[3]!.run)
  for (const chain of chains) chain.append('call.sent', { call: '1', attempt: 2 })
  const outcomes = await Promise.allSettled(chains.map((chain) => chain.durable()))
  assert.deepEqual(
    outcomes.flatMap(({ status }, i) => (status === 'rejected' ? [i] : [])),
    [3],
  )
  database.close()
  assert.deepEqual(
    chains.map(({ run }) => store.events(run).length),
    chains.map((_, i) => (i === 0 ? 4 : i === 3 ? 2 : 3)),
  )
  const allEarly = chains.slice(4, 4 + limits.earlyAsksMax)
  for (const chain of allEarly) chain.append('call.sent', { call: '1', attempt: 3 })
  await Promise.all(allEarly.map((chain) => chain.durable()))
  assert.equal((await verify(store.home)).ok, true)
})
