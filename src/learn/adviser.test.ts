/** An adviser takes in each run once: what it has read of the past is not read again. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Capability } from '#learn/capabilities'
import type { Knowledge, PastRun, Shape } from '#learn/graph'
import { Adviser } from './adviser.ts'
import { openHabits } from './offers.ts'

const nothing = {
  removals: 0,
  edges: () => [],
  capabilities: () => [],
  capability: () => undefined,
  shapes: () => [],
  shape: () => undefined,
  tool: () => undefined,
  usesOf: () => [],
  useCounts: () => ({ runs: 0, successes: 0 }),
}

test('Adviser reads no run again to fit its confidence or to know the arguments of a tool', async () => {
  const runs: PastRun[] = []
  for (const pass of ['map', 'filter', 'flatMap'] as const)
    Object.defineProperty(runs, pass, { value: () => assert.fail('all runs are read again') })
  let looked = 0
  const capability = () => {
    looked++
    return undefined
  }
  const known: Knowledge = {
    ...nothing,
    capability,
    runs,
    run: (id) => runs[Number(id)],
    examplesOf: () => [{ run: '3', call: '1', subject: 'ann', input: { n: 3 }, output: true }],
  }
  const adviser = new Adviser({ knowledge: () => ({ ...known }), isShared: false, now: () => 0 })
  const asker = { subject: 'ann', servers: new Set(['t']) }
  for (let n = 0; n < 60; n++) {
    const subject = n % 2 === 0 ? 'bob' : 'ann'
    runs.push({
      ...{ run: String(n), n, at: '', intent: `do ${n} things`, subject, ms: 1 },
      ...{ kind: 'code', status: 'done', teaches: 'rates', tools: ['cap:c@1', `t:${n % 3}`] },
    })
    await adviser.foresight('do 7 things', asker, new Map())
  }
  // Each in the past of all, and those of the one who asks in their own.
  assert.ok(looked > 60 && looked <= 60 + 30, String(looked))
  assert.deepEqual(adviser.pastArguments('t:1', asker), [{ intent: 'do 3 things', args: { n: 3 } }])
})

test('Adviser forgets the words of a run that was removed, also where another one came', () => {
  const run = (n: number, intent: string) =>
    ({
      ...{ run: String(n), n, at: '', intent, subject: null, ms: 1 },
      ...{ kind: 'code', status: 'done', teaches: 'rates', tools: ['t:a'] },
    }) as PastRun
  let removals = 0
  let runs = [run(1, 'refund the order'), run(2, 'water the plants')]
  const known = () => ({ ...nothing, removals, runs, run: () => undefined, examplesOf: () => [] })
  const adviser = new Adviser({ knowledge: known, isShared: false, now: () => 0 })
  const asker = { subject: null, servers: new Set(['t']) }
  const votes = () => adviser.hints('refund the order', asker, new Map()).history.size
  assert.equal(votes(), 1)
  removals++
  runs = [runs[1]!, run(3, 'feed the cat')]
  assert.equal(votes(), 0)
})

test('openHabits() reads the intents of a capability again only where the runs of its shape changed', () => {
  const habitOf = openHabits()
  const capability = { name: 'c', intent: 'refund an order', shape: 's', tools: { 't:a': '' } } as unknown as Capability
  let shape = { digest: 's', runs: [{ intent: 'refund order 1', ok: true }] } as unknown as Shape
  const known = (): Knowledge => ({
    ...nothing,
    runs: [],
    run: () => undefined,
    examplesOf: () => [],
    shape: () => shape,
  })
  const first = habitOf(known(), capability)
  assert.deepEqual(
    first.intents.map(({ text }) => text),
    ['refund an order', 'refund order 1'],
  )
  assert.equal(habitOf(known(), capability), first)
  assert.deepEqual(first.past, [{ intent: 'refund order 1', args: {} }])
  shape = { ...shape, runs: [...shape.runs, { ...shape.runs[0]!, intent: 'refund order 2' }] }
  assert.equal(habitOf(known(), capability).intents.length, 3)
})
