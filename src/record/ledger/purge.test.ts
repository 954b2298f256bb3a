/** Purging: finished runs only, whole; what others share stays. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type EventBodies, newId, type RunId } from '#model'
import { verify } from '#record/verify'
import { finishSample, keeper, openSample, startSample } from '#test'

test('purge() leaves head and count, forgets the rest, and the record verifies', async (t) => {
  const store = await openSample(t)
  const run = await finishSample(store, 2)
  const { head, count } = store.run(run)!
  await store.checkpoint()
  const { seq } = store.eventsSince(0, 1000).at(-1)!
  await store.purge(run, keeper)
  assert.deepEqual(store.events(run), [])
  assert.equal(store.run(run), undefined)
  assert.equal(store.isPurged(run), true)
  const purges = store.events('home', { type: 'run.purged' }).map(({ body }) => body as EventBodies['run.purged'])
  assert.deepEqual(
    purges.map(({ run, head, count, who, from }) => ({ run, head, count, who, from })),
    [{ run, head, count, ...keeper }],
  )
  assert.ok(store.eventsSince(seq, 1).length > 0, 'the order of arrival goes on')
  assert.equal((await verify(store.home)).ok, true)
  assert.equal((await verify(store.home, { run })).ok, true)
})

test('purge() refuses an open run, an unknown one and one that is gone', async (t) => {
  const store = await openSample(t)
  const open = startSample(store)
  await open.durable()
  await assert.rejects(store.purge(open.run, keeper), /only a finished run may be purged/)
  await open.suspend({ why: 'uncertain', calls: [] })
  await assert.rejects(store.purge(open.run, keeper), /only a finished run may be purged/)
  await assert.rejects(store.purge(newId<RunId>(), keeper), { code: 'RUN_NOT_FOUND' })
  const run = await finishSample(store)
  await store.purge(run, keeper)
  await assert.rejects(store.purge(run, keeper), { code: 'RUN_PURGED' })
})

test('a purged run keeps its key: the same request is not run again', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store, { key: 'once' })
  await chain.finish({ status: 'done', callCount: 0, ms: 1 })
  await store.purge(chain.run, keeper)
  assert.equal(store.runByKey('once'), chain.run)
  await assert.rejects(startSample(store, { key: 'once' }).durable(), { code: 'INVALID_INPUT_PARAM' })
})

test('purge() removes the blobs that no other run names', async (t) => {
  const store = await openSample(t)
  const shared = 'x'.repeat(70_000)
  const first = await finishSample(store, 1, shared)
  const second = await finishSample(store, 2, shared)
  const blobs = join(store.home, 'blobs')
  assert.equal(readdirSync(blobs).length, 1)
  await store.purge(first, keeper)
  assert.equal(readdirSync(blobs).length, 1)
  assert.equal((await verify(store.home)).ok, true)
  await store.purge(second, keeper)
  assert.deepEqual(readdirSync(blobs), [])
})

test('expire() purges what was finished long ago, and nothing else', async (t) => {
  const day = 24 * 60 * 60 * 1000
  let now = 1763000000000
  const store = await openSample(t, { now: () => now })
  const old = await finishSample(store)
  const waiting = startSample(store)
  await waiting.suspend({ why: 'approval', calls: [] })
  now += 10 * day
  const young = await finishSample(store)
  assert.deepEqual(await store.expire(11, keeper), [])
  assert.deepEqual(await store.expire(9, keeper), [old])
  assert.deepEqual(
    store.runs().map(({ run }) => run),
    [young, waiting.run],
  )
})

test('the database itself refuses to change or remove an event', async (t) => {
  const store = await openSample(t)
  const run = await finishSample(store)
  const database = new DatabaseSync(join(store.home, 'metier.db'))
  assert.throws(() => database.exec(`UPDATE event SET line = 'x'`), /append-only/)
  assert.throws(() => database.exec('DELETE FROM event'), /append-only/)
  database.close()
  assert.equal(store.events(run).length, 5)
  assert.ok(existsSync(join(store.home, 'metier.db')))
})
