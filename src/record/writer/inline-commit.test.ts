/**
 * Where a write is committed: by the thread that asks, or by the writer's; the right to write is in
 * one place at a time.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { limits } from '#model'
import { type Chain, openStore, type Store } from '#record'
import type { Request } from '#record/ledger'
import { verify } from '#record/verify'
import { openSample, startSample, temporaryFolder } from '#test'
import { openInlineCommitter } from './inline-commit.ts'

function write(chain: Chain): Promise<void> {
  chain.append('call.sent', { call: '1', attempt: 1 })
  return chain.durable()
}

/** Many that write at once. */
async function crowd(store: Store, chain: Chain): Promise<void> {
  const others = Array.from({ length: 4 }, () => startSample(store))
  await Promise.all([...others, chain].map(write))
}

function forgeHead(t: TestContext, store: Store, run: string): void {
  const database = new DatabaseSync(join(store.home, 'metier.db'), { timeout: 5000 })
  t.after(() => database.close())
  database.prepare(`UPDATE run SET hash = '${'f'.repeat(64)}' WHERE run = ?`).run(run)
}

type Manner = { name: string; write(chain: Chain, store: Store): Promise<void> }

test('a head that was altered is noticed also where the next write is committed elsewhere', async (t) => {
  const lone: Manner = { name: 'lone', write }
  const crowded: Manner = { name: 'crowded', write: (chain, store) => crowd(store, chain) }
  const both = async (chain: Chain, store: Store) => {
    await crowd(store, chain)
    await pause(2 * limits.crowdedMs)
    await write(chain)
  }
  for (const before of [lone, crowded, { name: 'crowded, then lone', write: both }]) {
    for (const after of [lone, crowded]) {
      const store = await openSample(t)
      const chain = startSample(store)
      await before.write(chain, store)
      await pause(2 * limits.crowdedMs)
      forgeHead(t, store, chain.run)
      await assert.rejects(after.write(chain, store), { code: 'RUN_OWNED' }, `${before.name}, then ${after.name}`)
    }
  }
})

test('lone writes and crowds by turns leave a record that verifies', async (t) => {
  const store = await openSample(t)
  const chains = Array.from({ length: 6 }, () => startSample(store))
  let written = chains.length
  for (let round = 0; round < 60; round++) {
    const writers = round % 3 === 0 ? chains : [chains[round % chains.length]!]
    if (round % 5 === 0) await pause(limits.crowdedMs + 1)
    await Promise.all(writers.map(write))
    written += writers.length
  }
  assert.equal(
    chains.map(({ run }) => store.count(run)).reduce((sum, count) => sum + count),
    written,
  )
  assert.equal((await verify(store.home)).ok, true)
})

test('who writes without a pause keeps nobody from their turn', async (t) => {
  const chain = startSample(await openSample(t))
  await write(chain)
  let turns = 0
  let isOver = false
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  for (let i = 0; i < 100; i++) await write(chain)
  isOver = true
  assert.ok(turns >= 90, `there were ${turns} turns in 100 writes`)
})

test('while another process writes, ours waits without holding up anybody', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  await write(chain)
  await pause(200)
  const other = new DatabaseSync(join(store.home, 'metier.db'), { timeout: 5000 })
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const began = performance.now()
  const written = write(chain)
  await pause(1)
  assert.ok(performance.now() - began < 500, 'the event loop went on')
  assert.equal(await Promise.race([written.then(() => 'written'), pause(100, 'waiting')]), 'waiting')
  other.exec('COMMIT')
  await written
  assert.equal(store.count(chain.run), 3)
})

test('fits() lets one small write alone through, and none for a while after the disk was slow', async (t) => {
  const { home, process } = await openSample(t)
  const here = openInlineCommitter({ home, process })
  t.after(() => here.close(false))
  const asks = (run: string, characters = 1, leaves = false) => {
    const entries = { types: ['run.logged' as const], ats: [1], bodies: ['x'.repeat(characters)], blobs: [] }
    const left = leaves ? { status: 'done' as const, callCount: 1 } : null
    const rest = { open: null, consumed: [], sealed: [], approvals: [], release: left }
    return { id: 1, ask: { kind: 'chain', run, epoch: 1, after: 0, entries, ...rest } } satisfies Request
  }
  assert.equal(here.fits([asks('a')]), true)
  assert.equal(here.fits([asks('b')]), false, 'another run writes just now')
  assert.equal(here.fits([asks('b', 1, true)]), true, 'the same run may')
  assert.equal(here.fits([asks('c')]), true, 'the run before it is over')
  await pause(2 * limits.crowdedMs)
  assert.equal(here.fits([asks('d'), asks('d')]), false, 'it is not alone')
  assert.equal(here.fits([asks('d', limits.commitHereCharactersMax + 1)]), false, 'it is long')
  assert.equal(here.fits([{ id: 1, ask: { kind: 'checkpoint', at: 1 } }]), false, 'it takes long')
})

test('a disk that fails under a commit here ends the store: nothing more is written, and no thread is left', async (t) => {
  const threads: Worker[] = []
  process.on('worker', (thread) => threads.push(thread))
  const store = await openStore({ home: join(temporaryFolder(t), 'home') })
  const chain = startSample(store)
  await write(chain)
  // As SQLite says it: the kernel reports such a failure once, so it must not be tried again.
  const { run } = StatementSync.prototype
  const broken = t.mock.method(StatementSync.prototype, 'run', function (this: StatementSync, ...values: unknown[]) {
    if (this.sourceSQL === 'COMMIT') throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
    return Reflect.apply(run, this, values)
  })
  await assert.rejects(write(chain), /disk I\/O error/)
  broken.mock.restore()
  assert.throws(() => chain.append('call.sent', { call: '1', attempt: 2 }), /disk I\/O error/)
  await assert.rejects(store.appendHome('run.opened', { run: chain.run }), /disk I\/O error/)
  await assert.rejects(store.close(), /disk I\/O error/)
  const ended = -1
  assert.deepEqual(
    threads.map(({ threadId }) => threadId),
    [ended],
  )
})
