/** Attention follows the record at fixed counts of runs, and no digest knows of it. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { openLearner } from '#learn'
import { limits } from '#model'
import { closeSample, openSample } from '#test'

const never = new AbortController().signal

test('Learner: attention is judged at each 200 runs, beside the rows, and again after a rebuild', async (t) => {
  const store = await openSample(t)
  const learner = openLearner({ store, enabled: true })
  t.after(() => learner.close())
  const fill = async (count: number, more: object = {}) => {
    for (let at = 0; at < count; at++) {
      const tool = `desk:t${at % 5}`
      await closeSample(store, [{ tool, args: {}, value: at }], { intent: `topic${at % 5} of day ${at}`, ...more })
    }
    await learner.catchUp()
  }
  await fill(limits.attentionJudgedEvery - 1)
  // Those of people who are told apart do not count.
  await fill(3, { actor: { kind: 'mcp', name: 'host', subject: 'ada' } })
  await learner.fitModels(false, never)
  assert.match(learner.attention().report.why, /first after 200 runs/)
  await fill(1)
  const { digest } = learner.status()
  await learner.fitModels(false, never)
  const state = learner.attention()
  assert.deepEqual([state.report.judgedAt, state.report.heldOut], [limits.attentionJudgedEvery, 100])
  assert.equal(learner.status().digest, digest)
  await learner.fitModels(false, never)
  assert.equal(learner.attention(), state, 'not judged again')
  await learner.rebuild()
  await learner.catchUp()
  assert.equal(learner.attention().report.judgedAt, 0)
  await learner.fitModels(false, never)
  assert.deepEqual(learner.attention().report, state.report, 'the same record, the same verdict')
})
