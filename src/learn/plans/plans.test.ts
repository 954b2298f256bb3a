/** The planner composes what past plans did, is used only where that helps, always the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Adviser, openLearner } from '#learn'
import { closeSample, openSample } from '#test'
import { fitPlans } from './fit-plans.ts'
import { plansDueAt } from './follow-plans.ts'
import { openPlanner, readPlanner, writePlanner } from './planner.ts'

const wishes: [string, string][] = [
  ['t:search_train', 'find a train to Rome'],
  ['t:book_hotel', 'reserve a room in the hotel'],
  ['t:send_mail', 'write a letter to Ann'],
  ['t:set_alarm', 'wake me at seven'],
  ['t:pay_bill', 'pay what I owe the plumber'],
  ['t:order_food', 'have pizza delivered'],
  ['t:play_music', 'put on some jazz'],
  ['t:check_weather', 'tell me whether it rains'],
  ['t:rent_car', 'get me a vehicle for the weekend'],
  ['t:buy_stock', 'purchase shares of the company'],
]
const wishOf = (at: number) => wishes[at % wishes.length]!

/** Two wishes at a time: hardly any pair comes twice. */
const runs = Array.from({ length: 60 }, (_, at) => {
  const [first, second] = [wishOf(at), wishOf(at + 1 + (Math.floor(at / wishes.length) % 9))]
  return { intent: `${first[1]} and ${second[1]}`, subject: null, status: 'done', tools: [first[0], second[0]] }
})
const tools = wishes.map(([id]) => ({ id, description: '', input: { type: 'object' } }))
const request = { count: runs.length, runs, tools }
const unseen = `${wishOf(0)[1]} and ${wishOf(9)[1]}`

const known = (list: readonly object[]) => ({
  runs: list.map((run, n) => ({ run: `r${n}`, n, at: '', kind: 'dag', teaches: 'rates', ms: 0, ...run })) as never,
  removals: 0,
  run: () => undefined,
  tool: () => undefined,
  edges: () => [],
  examplesOf: () => [],
  capabilities: () => [],
  capability: () => undefined,
  shapes: () => [],
  shape: () => undefined,
  usesOf: () => [],
  useCounts: () => ({ runs: 0, successes: 0 }),
})

test('a planner composes what no single past plan did, in its order, after it was written and read', async () => {
  const state = fitPlans(request)
  assert.ok(state.isAdmitted && state.with > state.without, JSON.stringify([state.with, state.without, state.lower]))
  assert.deepEqual(writePlanner(fitPlans(request)), writePlanner(state), 'the same record, the same planner')
  const planner = openPlanner(readPlanner(writePlanner(state)))
  const adviser = new Adviser({ knowledge: () => known(runs), planner: () => planner, isShared: false, now: Date.now })
  const asker = { subject: null, servers: new Set(['t']) }
  const foreseen = await adviser.foresight(unseen, asker, new Map())
  assert.deepEqual([foreseen.tools, foreseen.isKnown], [[wishOf(0)[0], wishOf(9)[0]], true])
  const reversed = await adviser.foresight(`${wishOf(9)[1]} and ${wishOf(0)[1]}`, asker, new Map())
  assert.deepEqual(reversed.tools, [wishOf(9)[0], wishOf(0)[0]], 'in the order in which they are wished for')
  assert.ok(foreseen.confidence > 0 && foreseen.confidence <= 61 / 62, String(foreseen.confidence))
  const { planned } = adviser.hints(unseen, asker, new Map())
  const ranked = [...planned!.shares].sort(([, left], [, right]) => right - left).map(([tool]) => tool)
  assert.deepEqual(ranked.slice(0, 2).sort(), [wishOf(0)[0], wishOf(9)[0]].sort())
  // It is made of runs without a subject: people who are told apart are not served by it.
  const own = runs.map((run) => ({ ...run, subject: 'ada' }))
  const apart = new Adviser({ knowledge: () => known(own), planner: () => planner, isShared: false, now: Date.now })
  const ada = { subject: 'ada', servers: new Set(['t']) }
  assert.notDeepEqual((await apart.foresight(unseen, ada, new Map())).tools, foreseen.tools)
  // A tool whose server is not configured here is not foreseen.
  const elsewhere = { subject: null, servers: new Set(['other']) }
  assert.deepEqual((await adviser.foresight(unseen, elsewhere, new Map())).tools, [])
})

test('a planner that foresees the past no better than near intents do is not used, nor one of few runs', () => {
  const habits = runs.map((run, at) => ({ ...run, intent: `${wishOf(0)[1]} at ${at}`, tools: ['t:do_it'] }))
  const same = fitPlans({ ...request, runs: habits })
  assert.deepEqual([same.isAdmitted, openPlanner(same).report.state], [false, 'off'])
  assert.equal(
    openPlanner(same).of(unseen, [], new Map(), () => true),
    null,
  )
  const few = openPlanner(fitPlans({ count: 30, runs: runs.slice(0, 30), tools }))
  assert.match(few.report.why, /30 past intents are fewer than/)
  assert.equal(fitPlans({ count: 0, runs: [], tools: [] }).isAdmitted, false)
})

test('plansDueAt() is at fixed counts, that grow with the runs', () => {
  const due = [0, 49, 50, 149, 999, 1000, 1199, 2627, 4100]
  assert.deepEqual(due.map(plansDueAt), [0, 0, 50, 100, 950, 1000, 1000, 2600, 4000])
})

test('Learner: the planner is fitted in its thread at each 50 runs, beside the rows, and again after a rebuild', async (t) => {
  const store = await openSample(t)
  const learner = openLearner({ store, enabled: true })
  t.after(() => learner.close())
  for (const { intent, tools: used } of runs.slice(0, 50))
    await closeSample(
      store,
      used.map((tool) => ({ tool, args: {}, value: 1 })),
      { intent },
    )
  await learner.catchUp()
  const { digest } = learner.status()
  const never = new AbortController().signal
  await learner.fitModels(false, AbortSignal.abort())
  assert.equal(learner.planner().report.fittedAt, 0)
  await closeSample(store, [{ tool: 't:set_alarm', args: {}, value: 1 }], {
    actor: { kind: 'mcp', name: 'host', subject: 'ada' },
  })
  await learner.catchUp()
  const after = learner.status().digest
  await learner.fitModels(false, never)
  const { report } = learner.planner()
  assert.deepEqual([report.fittedAt, report.heldOut, report.state], [50, 50, 'on'])
  assert.notEqual(after, digest)
  assert.equal(learner.status().digest, after, 'no digest knows of it')
  await learner.rebuild()
  await learner.catchUp()
  assert.equal(learner.planner().report.fittedAt, 0)
  await learner.fitModels(false, never)
  assert.deepEqual(learner.planner().report, report, 'the same record, the same planner')
})
