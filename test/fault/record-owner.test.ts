/**
 * Who owns a run is the kernel's word: the stopped are not robbed, the dead are taken over at once,
 * the old owner is refused.
 */
import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openStore, type Store, verify } from '#record'
import { temporaryFolder } from '#test'
import { type Keeper, resumeRun, startKeeper } from './record-process.ts'

async function together(t: TestContext): Promise<{ home: string; keeper: Keeper; store: Store }> {
  const home = join(temporaryFolder(t), 'home')
  const keeper = startKeeper(t, home, 'hold')
  await keeper.ready
  const store = await openStore({ home })
  return { home, keeper, store }
}

test('a stopped owner is not robbed, and goes on where it was', async (t) => {
  const { keeper, store } = await together(t)
  const { process, runs } = await keeper.ready
  keeper.child.kill('SIGSTOP')
  assert.equal(store.isAlive(process), true)
  assert.equal(store.run(runs[0]!)!.status, 'running')
  await assert.rejects(store.takeRun(runs[0]!), { code: 'RUN_OWNED' })
  keeper.child.kill('SIGCONT')
  assert.deepEqual(await keeper.ask(), { run: runs[0], n: 2 })
  await store.close()
})

test('a killed owner is taken over at once', async (t) => {
  const { home, keeper, store } = await together(t)
  const { process, runs } = await keeper.ready
  await keeper.kill()
  assert.equal(store.isAlive(process), false)
  assert.equal(store.run(runs[0]!)!.status, 'interrupted')
  const chain = await resumeRun(store, runs[0]!)
  assert.equal(chain.epoch, 2)
  assert.equal(existsSync(join(home, 'processes', `${process}.db`)), false)
  await chain.finish({ status: 'done', callCount: 0, ms: 1 })
  await store.close()
  assert.equal((await verify(home)).ok, true)
})

test('an owner that lost its run unawares can write no more', async (t) => {
  const { home, keeper, store } = await together(t)
  const { process, runs } = await keeper.ready
  // No process does this, but if a lock were ever lost, the epoch must still hold.
  rmSync(join(home, 'processes', `${process}.db`))
  const chain = await store.takeRun(runs[0]!)
  assert.deepEqual(await keeper.ask(), { code: 'RUN_OWNED' })
  assert.deepEqual(await keeper.ask(), { code: 'RUN_OWNED' })
  chain.append('call.sent', { call: '1', attempt: 1 })
  await chain.durable()
  assert.equal(store.events(runs[0]!).length, 2)
  await store.close()
  assert.equal((await verify(home)).ok, true)
})

test('three processes write at once: every event is there, and every chain verifies', async (t) => {
  const home = join(temporaryFolder(t), 'home')
  const keepers = [1, 2, 3].map(() => startKeeper(t, home, 'share'))
  const said = await Promise.all(keepers.map(({ ready }) => ready))
  const codes = await Promise.all(keepers.map(({ ended }) => ended))
  assert.deepEqual(codes, [0, 0, 0])
  const verdict = await verify(home)
  assert.equal(verdict.ok, true, verdict.reason)
  const store = await openStore({ home })
  for (const run of said.flatMap(({ runs }) => runs)) assert.equal(store.run(run)!.count, 202)
  await store.close()
})
