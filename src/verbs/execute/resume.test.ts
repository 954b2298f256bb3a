/**
 * Going on with a run: what keeps it from that is told, and one that another process moves is
 * followed to its end.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Catalog } from '#catalog'
import { noAdviser } from '#learn'
import { AppError, type RunId } from '#model'
import { openStore } from '#record'
import type { Engine } from '#run'
import { caller, effects, openSpace, workspace } from '#test'
import { resume } from './execute.ts'

test('resume() tells what keeps a run from going on, and not that it is running', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const code = 'await sleep(600000)'
  const { run } = await verbs.execute({ implementation: { type: 'code', code }, wait: 0 }, caller)
  await verbs.close()
  const store = await openStore({ home: space.home })
  const broken = {
    activeRun: () => undefined,
    resume: async (one: RunId) => {
      await store.takeRun(one)
      throw new AppError('STORE_FULL', 'Cannot write: the disk is full')
    },
  } as unknown as Engine
  const catalog = {} as Catalog
  const policy = { permissions: 'standard' as const, rules: [] }
  const parts = {
    store,
    engine: broken,
    catalog,
    policy,
    adviser: noAdviser,
    minConfidence: null,
    leaving: new AbortController().signal,
  }
  await assert.rejects(resume(parts, run as RunId, caller, null), { code: 'STORE_FULL' })
  await store.close()
})

test('resume() of a run that another process moves waits for its end, or until this process has to go', async (t) => {
  const space = workspace(t)
  const owner = await openSpace(space)
  const [other, leaving] = [await openSpace(space), await openSpace(space)]
  const code = `await mcp.fx.wait({ ms: 1500 }); return 'over'`
  const { run } = await owner.execute({ implementation: { type: 'code', code }, wait: 0 }, caller)
  while (effects(space).length === 0) await pause(10)
  const left = leaving.resume(String(run), caller)
  const followed = other.resume(String(run), caller)
  await leaving.releaseRuns()
  assert.equal((await left).status, 'running')
  const { status, result } = await followed
  assert.deepEqual([status, result], ['done', 'over'])
})

test('no time that an answer tells is negative, also where the clock was put back while a run was under way', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const space = workspace(t)
  const verbs = await openSpace(space)
  const tasks = [{ id: 'wait', tool: 'fx:wait', arguments: { ms: 300 } }]
  const running = verbs.execute({ implementation: { type: 'dag', tasks } }, caller)
  while (effects(space).length === 0) await pause(10)
  t.mock.timers.setTime(Date.now() - 60 * 60 * 1000)
  const { status, ms, calls, run } = await running
  assert.deepEqual([status, ms, (calls as { ms: number }[])[0]!.ms], ['done', 0, 0])
  const shown = (await verbs.run(String(run))) as { ms: number; calls: { ms: number }[] }
  assert.deepEqual([shown.ms, shown.calls[0]!.ms], [0, 0])
  const recorded = verbs.linesOf(String(run)).flatMap((line) => JSON.parse(line).body.ms ?? [])
  assert.deepEqual(recorded, [0, 0], 'as it is written')
})
