/** Attention ranks only while it surely helps on this home's own later intents. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '#model'
import { openAttention, reportOf, writeAttention } from './attention-state.ts'
import { trainInThread } from './follow-attention.ts'
import { type AttentionRequest, judgeAttention } from './judge-attention.ts'

const diceFrom = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return ((seed ^ (seed >>> 15)) >>> 0) / 2 ** 32
}
const topics = ['invoice', 'parcel', 'meeting', 'contract', 'salary', 'holiday', 'printer', 'laptop']

/**
 * Each topic has its tool. Where names are `telling`, an intent names the topic among rare words
 * that stand in intents of other topics too, which mislead a look at the nearest ones.
 */
function homeOf(count: number, isTelling: boolean): AttentionRequest {
  const dice = diceFrom(3)
  const noise = Array.from({ length: 60 }, (_, at) => `noisy${at}`)
  const pick = <Item>(from: readonly Item[]) => from[Math.floor(dice() * from.length)]!
  const runs = Array.from({ length: count }, () => {
    const topic = pick(topics)
    const words = Array.from({ length: 6 }, () => pick(noise))
    const tool = isTelling ? `desk:t${topics.indexOf(topic)}` : `desk:t${Math.floor(dice() * topics.length)}`
    return { intent: [...words, topic].join(' '), subject: null, status: 'done', tools: [tool] }
  })
  return { count, runs, texts: {} }
}

test('judgeAttention() admits it where it surely ranks later intents better, the same each time', () => {
  const request = homeOf(400, true)
  const state = judgeAttention(request)
  assert.equal(state.isAdmitted, true, JSON.stringify(reportOf(state)))
  assert.ok(state.with > state.without && state.lower > 0 && state.cases >= limits.attentionCasesMin)
  assert.deepEqual(judgeAttention(request), state)
  const scoreOf = openAttention(writeAttention(state)).of('noisy1 noisy2 parcel')
  const others = topics.map((_, at) => scoreOf(`desk:t${at}`)!)
  assert.equal(others.indexOf(Math.max(...others)), topics.indexOf('parcel'), String(others))
  assert.equal(scoreOf('desk:unheard'), undefined)
  assert.ok(others.every((score) => score >= 0.05 && score <= 0.95))
  assert.equal(reportOf(state).state, 'on')
})

test('judgeAttention() keeps it off where it does not help, or too few intents say so, with both figures', () => {
  const off = judgeAttention(homeOf(400, false))
  assert.deepEqual([off.isAdmitted, off.model], [false, null], JSON.stringify(reportOf(off)))
  const { state, with: ours, without } = reportOf(off)
  assert.equal(state, 'off')
  assert.ok(ours !== null && without !== null)
  const few = judgeAttention(homeOf(90, true))
  assert.equal(few.isAdmitted, false)
  assert.match(reportOf(few).why, /45 held-out intents are fewer than 50/)
})

test('trainInThread() finds in its thread what is found here, and ends with its signal', async () => {
  const request = homeOf(200, true)
  const { model: _, ...found } = (await trainInThread(request, AbortSignal.timeout(60_000)))!
  const { model: __, ...here } = judgeAttention(request)
  assert.deepEqual(found, here)
  assert.equal(await trainInThread(request, AbortSignal.timeout(50)), null)
  assert.equal(await trainInThread(request, AbortSignal.abort()), null)
})
