/** Retention and purging, as learning meets them: what a capability is held against stays. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { RunId } from '#model'
import { verify } from '#record'
import { caller, openSpace, type TestVerbs, workspace } from '#test'

const read = (verbs: TestVerbs, key: string) => {
  const code = `return (await mcp.fx.read({ key: '${key}' })).value`
  return verbs.execute({ intent: `look up the colour of ${key}`, implementation: { type: 'code', code } }, caller)
}

const isFinished = (verbs: TestVerbs, run: unknown) => verbs.store.run(run as RunId) !== undefined

async function taught(verbs: TestVerbs): Promise<{ id: string; runs: string[]; failed: string }> {
  const runs: string[] = []
  for (const key of ['apples', 'pears']) runs.push((await read(verbs, key)).run!)
  const code = `await mcp.fx.read({ key: 'plums' }); throw new Error('no')`
  const failed = await verbs.execute({ intent: 'fail', implementation: { type: 'code', code } }, caller)
  for (let tries = 0; tries < 300; tries++) {
    const [found] = verbs.capabilities('verified')
    if (found !== undefined) return { id: String(found.id), runs, failed: failed.run! }
    await pause(100)
  }
  assert.fail('no capability was verified')
}

test('expire() folds first, and leaves the runs that a capability is held against', async (t) => {
  const verbs = await openSpace(workspace(t))
  const { id, failed } = await taught(verbs)
  const late = (await read(verbs, 'cherries')).run!
  await pause(5)
  const fixtures = (verbs.capability(id) as { fixtures: string[] }).fixtures
  const expired = await verbs.expire(0)
  assert.ok(expired.includes(failed as RunId) && !expired.some((run) => fixtures.includes(run)), expired.join())
  assert.ok(fixtures.length > 0 && fixtures.every((run) => isFinished(verbs, run)))
  // What was never looked at before it went was folded on the way.
  const known = (verbs.store.events('home', { type: 'learn.folded' }).at(-1)?.body ?? {}) as { state?: unknown }
  assert.ok(fixtures.includes(late) || JSON.stringify(known.state).includes(late), 'it was folded before it went')
  const again = await verbs.verifyCapability(id)
  assert.deepEqual([again.ok, again.why], [true, null])
  assert.equal((await verify(verbs.store.home)).ok, true)
})

test('purge() takes a fixture at the word of a human; a capability without any is stale', async (t) => {
  const verbs = await openSpace(workspace(t))
  const { id } = await taught(verbs)
  for (const run of (verbs.capability(id) as { fixtures: string[] }).fixtures) await verbs.purge(run as RunId, caller)
  assert.equal((verbs.capability(id) as { status: string }).status, 'stale')
})

test('expire() takes the runs of a capability that a human had forgotten', async (t) => {
  const verbs = await openSpace(workspace(t))
  const { id } = await taught(verbs)
  const { fixtures } = verbs.capability(id) as { fixtures: RunId[] }
  await verbs.decideCapability(id, 'forgotten', caller)
  await pause(5)
  const expired = await verbs.expire(0)
  assert.deepEqual(
    fixtures.filter((run) => !expired.includes(run)),
    [],
  )
})
