/** What is known of a home as its record grows, and as runs go. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { closeSample, keeper, openSample } from '#test'
import { openKnowledge } from './knowledge.ts'
import { openLearner } from './learner.ts'
import { Rows } from './rows.ts'

test('openKnowledge() takes in what was folded since, and is what one has that reads it all', async (t) => {
  const store = await openSample(t)
  const file = join(store.home, 'watched.db')
  const learner = openLearner({ store, enabled: true, file })
  const work = async (runs: number) => {
    const closed = []
    for (let i = 0; i < runs; i++)
      closed.push(await closeSample(store, [{ tool: 'a:b', args: {} }], { intent: `count ${i}` }))
    await learner.catchUp()
    return closed
  }
  const isWhole = () => {
    const rows = new Rows(file)
    const { runs } = openKnowledge(rows)()
    assert.deepEqual(learner.knowledge().runs, runs)
    assert.deepEqual(
      runs.map(({ n }) => n),
      runs.map(({ n }) => n).sort((left, right) => left - right),
    )
    rows.close()
    return runs.map(({ run }) => run)
  }
  const first = await work(3)
  const before = learner.knowledge()
  assert.deepEqual(isWhole(), first)
  const second = await work(2)
  assert.deepEqual(isWhole(), [...first, ...second])
  assert.equal(learner.knowledge().runs[0], before.runs[0], 'what was known is not made again')
  await learner.beforePurge()
  await store.purge(first[1]!, keeper)
  const third = await work(1)
  assert.deepEqual(isWhole(), [first[0], first[2], ...second, ...third])
  assert.equal(before.runs.length, 3)
  await learner.rebuild()
  assert.deepEqual(isWhole(), [first[0], first[2], ...second, ...third])
  await learner.close()
})
