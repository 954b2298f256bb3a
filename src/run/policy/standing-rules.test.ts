/**
 * Standing lines are found where they were written before and after the first look, each once,
 * until they are taken back.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { PermissionSet } from '#model'
import { openStore } from '#record'
import { temporaryFolder } from '#test'
import { openStanding, runPolicy, standingLines, standingRules } from './standing-rules.ts'

async function open(t: TestContext) {
  const store = await openStore({ home: temporaryFolder(t, () => store.close()) })
  const said = { who: 'human', from: 'cli' }
  const write = (tool: string, approval: string) =>
    store.appendHome('policy.changed', { rule: { tool, then: 'allow' }, ...said, approval })
  const forget = (tool: string, forgets: number[]) =>
    store.appendHome('policy.changed', { rule: { tool, then: 'allow' }, ...said, forgets })
  return { store, write, forget }
}

test('openStanding() sees each line once, also one that is written later', async (t) => {
  const { store, write } = await open(t)
  const standing = openStanding(store)
  const names = () => [...standing().lines.values()].map(({ rule }) => rule.tool)
  assert.deepEqual(names(), [])
  await write('a:*', '1')
  await store.appendHome('run.opened', { run: 'another' })
  assert.deepEqual(names(), ['a:*'])
  await write('b:*', '2')
  assert.deepEqual(
    [names(), names()],
    [
      ['a:*', 'b:*'],
      ['a:*', 'b:*'],
    ],
  )
})

test('openStanding() reads once for all that ask at once, and again after a write that was awaited', async (t) => {
  const { store, write } = await open(t)
  let reads = 0
  const counted: typeof store.events = (run, options) => {
    reads += 1
    return store.events(run, options)
  }
  const standing = openStanding({ ...store, events: counted })
  const ask = async () => standing().lines.size
  assert.deepEqual([await Promise.all(Array.from({ length: 64 }, ask)), reads], [Array(64).fill(0), 1])
  const written = write('a:*', '1')
  standing()
  await written
  assert.equal(standing().lines.size, 1, 'what was asked for before the write hides nothing of it')
})

test('runPolicy() has no line any more that was taken back, neither among all nor among those of the run', async (t) => {
  const { store, write, forget } = await open(t)
  const file = { permissions: 'standard' as const, rules: [{ tool: 'f:*', then: 'deny' as const }] }
  const own = (tool: string, approval: string) => ({ rule: { tool, then: 'allow' as const }, approval })
  const policy = runPolicy('standard', file, openStanding(store), [own('a:x', '1'), own('r:x', '9')])
  const names = () => policy.rules.map(({ tool }) => tool)
  await write('a:x', '1')
  policy.write(own('b:x', '2'))
  await write('b:x', '2')
  assert.deepEqual(names(), ['f:*', 'a:x', 'b:x', 'a:x', 'r:x', 'b:x'])
  const { id } = standingLines(store)[0]!
  await forget('a:x', [id])
  assert.deepEqual(names(), ['f:*', 'b:x', 'r:x', 'b:x'])
  await forget('a:x', [id, 999])
  assert.deepEqual(names(), ['f:*', 'b:x', 'r:x', 'b:x'], 'twice is once, and what never was is nothing')
  await write('a:x', '3')
  assert.deepEqual(names(), ['f:*', 'b:x', 'a:x', 'r:x', 'b:x'], 'it may be written again')
})

test('runPolicy() lets no line beat a permission set that became stricter after it, of the file or of the run', async (t) => {
  const { store, write } = await open(t)
  const under = (permissions: PermissionSet) => {
    const line = { rule: { tool: `${permissions}:x`, then: 'allow' as const }, who: 'human', from: 'cli', permissions }
    return store.appendHome('policy.changed', line)
  }
  await write('unnamed:x', '1')
  for (const permissions of ['minimal', 'standard', 'privileged'] as const) await under(permissions)
  const own = [{ rule: { tool: 'own:x', then: 'allow' as const }, approval: '9' }]
  const policy = (run: PermissionSet, file: PermissionSet) =>
    runPolicy(run, { permissions: file, rules: [] }, openStanding(store), own)
  const names = (run: PermissionSet, file: PermissionSet) => policy(run, file).rules.map(({ tool }) => tool)
  const all = ['unnamed:x', 'minimal:x', 'standard:x', 'privileged:x', 'own:x']
  assert.deepEqual(names('privileged', 'privileged'), all)
  assert.deepEqual(names('standard', 'standard'), ['unnamed:x', 'minimal:x', 'standard:x', 'own:x'])
  assert.deepEqual(names('standard', 'privileged'), names('standard', 'standard'), 'the run asked for less')
  assert.deepEqual(names('privileged', 'standard'), ['unnamed:x', 'minimal:x', 'standard:x'])
  assert.deepEqual(names('standard', 'minimal'), ['minimal:x'], 'one that names no set was given under "standard"')
  assert.equal(policy('standard', 'minimal').permissions, 'minimal')
  assert.equal(policy('minimal', 'privileged').permissions, 'minimal')
  assert.deepEqual(standingRules(store, 'minimal'), [{ tool: 'minimal:x', then: 'allow' }])
})
