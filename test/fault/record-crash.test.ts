/** kill -9 under write load: nothing that was acknowledged is lost, and the chains are whole. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openStore, verify } from '#record'
import { dice, temporaryFolder } from '#test'
import { resumeRun, startKeeper } from './record-process.ts'

const kills = process.env.LONG === '1' ? 100 : 5

test(`${kills} kills under write load lose no acknowledged event`, { timeout: kills * 20_000 }, async (t) => {
  const seed = Date.now() % 1e9
  const roll = dice(seed)
  const home = join(temporaryFolder(t), 'home')
  let acknowledged = 0
  for (let kill = 0; kill < kills; kill++) {
    const keeper = startKeeper(t, home, 'load')
    const { runs } = await keeper.ready
    await pause(20 + roll() * 300)
    await keeper.kill()
    const story = `seed ${seed}, kill ${kill}`

    const verdict = await verify(home)
    assert.equal(verdict.ok, true, `${story}: ${verdict.reason}`)
    const store = await openStore({ home })
    for (const run of runs) {
      const n = keeper.durable.get(run) ?? 1
      const events = store.events(run)
      assert.ok(events.length >= n, `${story}: ${run} has ${events.length} of ${n} acknowledged events`)
      for (const { type, body } of events) if (type === 'call.resolved') store.text(body.value!)
      acknowledged += n
      assert.equal(store.run(run)!.status, 'interrupted')
      const chain = await resumeRun(store, run)
      await chain.finish({ status: 'cancelled', callCount: 0, ms: 0 })
    }
    await store.close()
    assert.deepEqual(readdirSync(join(home, 'processes')), [], 'nothing is left of the dead')
  }
  const verdict = await verify(home)
  assert.equal(verdict.ok, true, verdict.reason)
  t.diagnostic(`${kills} kills, ${acknowledged} acknowledged events, 0 lost`)
})
