/**
 * Verification that is asked for often: it goes on where it was, starts over in time, and never
 * calls good what it saw to be bad.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { limits } from '#model'
import { finishSample, keeper, openSample, startSample } from '#test'
import { openVerifier } from './cached-verify.ts'
import { verify } from './verify-home.ts'

function tamper(home: string, sql: string): void {
  const database = new DatabaseSync(join(home, 'metier.db'), { timeout: 5000 })
  const trigger = database.prepare(`SELECT sql FROM sqlite_schema WHERE name = 'event_stays'`).get()!.sql
  database.exec(`DROP TRIGGER event_stays; ${sql}; ${trigger}`)
  database.close()
}

test('openVerifier() goes on with what came since, and says since when the rest was not read', async (t) => {
  let now = 1763000000000
  const store = await openSample(t)
  const recent = openVerifier(store.home, () => now)
  const run = await finishSample(store, 3)
  const first = await recent()
  assert.deepEqual(first, { ok: true, events: 13, wholeAt: '2025-11-13T02:13:20.000Z' })
  await finishSample(store)
  await store.checkpoint()
  now += 1000
  assert.deepEqual(await recent(), { ok: true, events: (await verify(store.home)).events, wholeAt: first.wholeAt })

  tamper(store.home, `UPDATE event SET line = replace(line, '"i":2', '"i":3') WHERE run = '${run}'`)
  assert.equal((await recent()).ok, true, 'the old part was not read again, which the answer says')
  now += limits.verifyWholeMsMin
  const { ok, firstBad, wholeAt } = await recent()
  assert.deepEqual([ok, firstBad, wholeAt], [false, { run, n: 5 }, new Date(now).toISOString()])
  assert.equal((await recent()).ok, false, 'what is bad stays bad')
})

test('openVerifier() names what is bad among what came since', async (t) => {
  const store = await openSample(t)
  const recent = openVerifier(store.home)
  await finishSample(store)
  assert.equal((await recent()).ok, true)
  const run = await finishSample(store)
  tamper(store.home, `UPDATE event SET hash = '${'f'.repeat(64)}' WHERE run = '${run}' AND n = 3`)
  const { ok, firstBad } = await recent()
  assert.deepEqual([ok, firstBad], [false, { run, n: 3 }])
})

test('openVerifier() is not misled by runs that end and are purged between two looks', async (t) => {
  const store = await openSample(t)
  const recent = openVerifier(store.home)
  const old = await finishSample(store)
  const chain = startSample(store)
  await chain.durable()
  assert.equal((await recent()).ok, true)
  chain.append('call.sent', { call: '1', attempt: 1 })
  await chain.finish({ status: 'done', callCount: 1, ms: 1 })
  for (const run of [old, chain.run, await finishSample(store)]) await store.purge(run, keeper)
  const [verdict, same] = await Promise.all([recent(), recent()])
  assert.deepEqual([verdict.ok, verdict.reason], [true, undefined])
  assert.equal(verdict, same, 'those who ask at once share one answer')
})
