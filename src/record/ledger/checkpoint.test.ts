/**
 * Checkpoints: when they are written, what they say, and what a crash between database and file
 * leaves.
 */
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { EventBodies } from '#model'
import { limits } from '#model'
import { isSigned } from '#record/disk'
import { verify } from '#record/verify'
import { finishSample, openSample, startSample } from '#test'
import { checkpointText } from './checkpoint.ts'

const linesOf = (home: string) => readFileSync(join(home, 'checkpoints.jsonl'), 'utf8').split('\n').slice(0, -1)

test('checkpoint() signs the heads that moved since the last, and repeats the line outside the database', async (t) => {
  const store = await openSample(t)
  const first = await finishSample(store)
  assert.deepEqual(await store.checkpoint(), { n: 3, heads: 2 })
  const second = await finishSample(store)
  assert.deepEqual(await store.checkpoint(), { n: 6, heads: 2 })
  assert.deepEqual(await store.checkpoint(), { n: 6, heads: 0 }, 'nothing moved')

  const checkpoints = store.events('home', { type: 'ledger.checkpointed' })
  const bodies = checkpoints.map(({ body }) => body as EventBodies['ledger.checkpointed'])
  assert.deepEqual(
    bodies.map(({ heads }) => Object.keys(heads)),
    [
      ['home', first],
      ['home', second],
    ],
  )
  assert.deepEqual(bodies[1]!.heads[second], { n: 5, hash: store.run(second)!.head })
  assert.equal(bodies[1]!.heads.home!.n, 5)
  for (const { heads, purges, signature, key } of bodies) {
    assert.ok(isSigned(checkpointText(JSON.stringify(heads), purges), signature, key))
    assert.equal(isSigned(JSON.stringify(heads), signature, key), false, 'what it says of purges is signed too')
  }
  assert.deepEqual(
    linesOf(store.home).map((line) => JSON.parse(line)),
    checkpoints,
  )
})

test('a checkpoint is due after so many events, whoever writes them', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  for (let i = 1; i < limits.checkpointEventsMax; i++) chain.append('call.sent', { call: '1', attempt: i })
  await chain.durable()
  const seen = Promise.withResolvers<void>()
  const stop = store.onChange(() => {
    if (store.events('home', { type: 'ledger.checkpointed' }).length > 0) seen.resolve()
  })
  await seen.promise
  stop()
})

test('a checkpoint that is due is written once, however fast events come', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  for (let sent = 0; sent < limits.checkpointEventsMax + 300; sent += 50) {
    for (let i = 0; i < 50; i++) chain.append('call.sent', { call: '1', attempt: sent + i })
    await chain.durable()
  }
  await store.close()
  assert.equal(linesOf(store.home).length, 2, 'one that was due, one at the end')
})

test('heads that are too many for an event stand as a blob, and verify', async (t) => {
  const store = await openSample(t)
  const chains = Array.from({ length: 600 }, () => startSample(store))
  await Promise.all(chains.map((chain) => chain.durable()))
  await store.close()
  const { body } = JSON.parse(linesOf(store.home).at(-1)!)
  assert.match(body.heads.$blob, /^[0-9a-f]{64}$/)
  assert.equal((await verify(store.home)).ok, true)
})

test('a crash between database and file is mended by the next checkpoint, and verifies meanwhile', async (t) => {
  const store = await openSample(t)
  await finishSample(store)
  await store.checkpoint()
  await finishSample(store)
  await store.checkpoint()
  const file = join(store.home, 'checkpoints.jsonl')
  const whole = readFileSync(file, 'utf8')
  truncateSync(file, whole.length - 10)
  assert.equal((await verify(store.home)).ok, true, 'a torn last line is no witness')
  await finishSample(store)
  await store.checkpoint()
  assert.ok(readFileSync(file, 'utf8').startsWith(whole))
  assert.equal(linesOf(store.home).length, 3)
  assert.equal((await verify(store.home)).ok, true)
  writeFileSync(file, '')
  assert.equal((await verify(store.home)).ok, false, 'a crash costs one line, not three')
  appendFileSync(file, whole)
  assert.equal((await verify(store.home)).ok, true)
})

test('several processes take turns with checkpoints, and the file has every one once', async (t) => {
  const store = await openSample(t)
  const others = [store, await openSample(t, { home: store.home }), await openSample(t, { home: store.home })]
  for (let i = 0; i < 5; i++) {
    await Promise.all(others.map((other) => finishSample(other).then(other.checkpoint)))
  }
  const expected = store.events('home', { type: 'ledger.checkpointed' })
  assert.deepEqual(
    linesOf(store.home).map((line) => JSON.parse(line)),
    expected,
  )
  assert.equal((await verify(store.home)).ok, true)
})
