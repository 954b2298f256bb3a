/** The writer's side: what each append asserts, and how the log grows. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '#model'
import { verify } from '#record/verify'
import { openSample, startSample } from '#test'

test('every append asserts owner, epoch, number and hash, however lately it wrote', async (t) => {
  const changes = ['owner = NULL', 'epoch = epoch + 1', 'n = n + 1', `hash = '${'f'.repeat(64)}'`]
  for (const change of changes) {
    const store = await openSample(t)
    const chain = startSample(store)
    await chain.durable()
    const database = new DatabaseSync(join(store.home, 'metier.db'), { timeout: 5000 })
    database.prepare(`UPDATE run SET ${change} WHERE run = ?`).run(chain.run)
    chain.append('call.sent', { call: '1', attempt: 1 })
    await assert.rejects(chain.durable(), { code: 'RUN_OWNED' }, change)
    assert.equal(database.prepare('SELECT count(*) AS n FROM event WHERE run = ?').get(chain.run)!.n, 1)
    database.close()
  }
})

test('the log gets room for many commits at a time, and what made it is undone', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  const log = join(store.home, 'metier.db-wal')
  let attempt = 0
  const commit = async () => {
    chain.append('call.sent', { call: '1', attempt: ++attempt })
    await chain.durable()
    return statSync(log).size
  }
  // Room is made by the writer's thread, which may take its time to start.
  const roomy = () => statSync(log).size > limits.storeLogLeapPages * 4096
  for (let tries = 0; !roomy() && tries < 2000; tries++) await commit().then(() => pause(5))
  assert.ok(roomy())
  const sizes = new Set<number>()
  for (let i = 0; i < 30; i++) sizes.add(await commit())
  assert.ok(sizes.size < 5, `the file grew ${sizes.size} times`)
  const database = new DatabaseSync(join(store.home, 'metier.db'), { readOnly: true })
  assert.equal(database.prepare('SELECT count(*) AS n FROM inbox').get()!.n, 0)
  database.close()
  assert.equal((await verify(store.home)).ok, true)
})
