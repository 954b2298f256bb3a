/** Standing rules are found where they were written before and after the first look, each once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore } from '#record'
import { temporaryFolder } from '#test'
import { openStandingRules } from './standing.ts'

test('openStandingRules() sees each line once, also one that is written later', async (t) => {
  const store = await openStore({ home: temporaryFolder(t, () => store.close()) })
  const write = (tool: string) =>
    store.appendHome('policy.changed', { rule: { tool, then: 'allow' }, who: 'human', from: 'cli' })
  const standing = openStandingRules(store)
  assert.deepEqual(standing(), [])
  await write('a:*')
  await store.appendHome('run.opened', { run: 'another' })
  const names = () => standing().map(({ tool }) => tool)
  assert.deepEqual(names(), ['a:*'])
  await write('b:*')
  assert.deepEqual(
    [names(), names()],
    [
      ['a:*', 'b:*'],
      ['a:*', 'b:*'],
    ],
  )
})
