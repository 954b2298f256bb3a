/** Plans from past plans: the tools that such intents needed, in order, with a probability. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { calibrationError, fitLogistic, predictLogistic, reliabilityOf } from '#learn/models'
import { learnPlans } from './suggest-plan.ts'

const tools = ['search_train', 'book_train', 'search_hotel', 'book_hotel', 'send_mail', 'set_alarm'].map((name) => ({
  id: `t:${name}`,
  name,
  description: name.replace('_', ' '),
}))
const cities = ['Paris', 'Rome', 'Berlin', 'Oslo', 'Vienna', 'Madrid', 'Prague', 'Lisbon']
const past = cities.flatMap((city, at) => [
  { intent: `Find a train to ${city} and reserve a seat`, tools: [0, 1] },
  { intent: `Look for a hotel in ${city} and reserve a room`, tools: [2, 3] },
  { intent: `Wake me at ${at + 3} and write to Ann`, tools: [5, 4] },
])

test('learnPlans() suggests the tools of like intents in their order, the same every time', () => {
  const planner = learnPlans(tools, past)
  assert.deepEqual(planner.suggest('Find a train to Warsaw and reserve a seat').tools, [0, 1])
  const alarm = planner.suggest('Wake me at 11 and write to Ann')
  assert.deepEqual([alarm.tools, alarm.links], [[5, 4], [[5, 4]]])
  assert.ok(alarm.confidence > 0 && alarm.confidence <= 25 / 26, String(alarm.confidence))
  assert.deepEqual(
    planner
      .rank('Look for a hotel in Kyiv')
      .slice(0, 2)
      .map(({ tool }) => tool)
      .sort(),
    [2, 3],
  )
  assert.deepEqual(learnPlans(tools, past).suggest('Wake me at 11 and write to Ann'), alarm)
})

test('learnPlans() knows nothing without a past, and says so', () => {
  assert.ok(learnPlans(tools, []).suggest('book a train').confidence <= 0.5)
})

test('calibrationError() is the distance between what was said and what came true', () => {
  const outcomes = (confidence: number, right: number) =>
    Array.from({ length: 100 }, (_, at) => ({ confidence, isRight: at < right }))
  assert.ok(Math.abs(calibrationError(outcomes(0.8, 80), 1)) < 1e-9)
  assert.ok(Math.abs(calibrationError(outcomes(0.9, 50), 1) - 0.4) < 1e-9)
  assert.deepEqual(
    reliabilityOf([...outcomes(0.2, 0), ...outcomes(0.7, 100)], 2).map(({ accuracy }) => accuracy),
    [0, 1],
  )
  assert.deepEqual([calibrationError([]), reliabilityOf([])], [0, []])
})

test('fitLogistic() learns what separates, and keeps to the base rate where nothing does', () => {
  const rows = Array.from({ length: 40 }, (_, at) => [at % 2, 1])
  const model = fitLogistic(
    rows,
    rows.map(([first]) => first!),
    0.1,
  )
  assert.ok(predictLogistic(model, [1, 1]) > 0.9 && predictLogistic(model, [0, 1]) < 0.1)
  const always = fitLogistic(
    rows,
    rows.map(() => 1),
    1,
  )
  assert.ok(predictLogistic(always, [0, 1]) > 0.9, 'finite where all labels are equal')
  const flat = fitLogistic(
    rows,
    rows.map((_, at) => Number(at % 4 < 1)),
    100,
  )
  assert.ok(Math.abs(predictLogistic(flat, [0.5, 1]) - 0.25) < 0.02)
})
