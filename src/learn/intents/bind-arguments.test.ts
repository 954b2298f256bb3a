/** Tests of bindArguments(): values from the words of an intent. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bindArguments } from './bind-arguments.ts'

const schema = { type: 'object', properties: { order: { type: 'string' }, amount: { type: 'number' } } }
const refunds = [
  { intent: 'refund 20 euros for order ORD-17', args: { order: 'ORD-17', amount: 20 } },
  { intent: 'refund 35 euros for order ORD-18', args: { order: 'ORD-18', amount: 35 } },
]

test('bindArguments() takes the values that stand where earlier intents had theirs', () => {
  const bound = bindArguments('refund 48 euros for order ORD-99', schema, refunds)
  assert.deepEqual(bound, { args: { order: 'ORD-99', amount: 48 }, missing: [] })
})

test('bindArguments() finds values in another wording by what they look like', () => {
  const bound = bindArguments('Please give the customer of ORD-5 back her 12 euros', schema, refunds)
  assert.deepEqual(bound, { args: { order: 'ORD-5', amount: 12 }, missing: [] })
})

test('bindArguments() says what is missing instead of guessing, and never repeats an old value', () => {
  const preset = { properties: { order: { type: 'string', default: 'ORD-17' }, amount: { type: 'number' } } }
  assert.deepEqual(bindArguments('refund the late order', preset, refunds), { args: {}, missing: ['order', 'amount'] })
})

test('bindArguments() keeps what is given, and a default that no intent ever named', () => {
  const parameters = { properties: { city: { type: 'string' }, units: { type: 'string', default: 'metric' } } }
  const past = [{ intent: 'weather in Paris', args: { city: 'Paris', units: 'metric' } }]
  assert.deepEqual(bindArguments('weather in Oslo', parameters, past).args, { city: 'Oslo', units: 'metric' })
  assert.deepEqual(bindArguments('weather', parameters, past, { city: 'Rome' }).args, { city: 'Rome', units: 'metric' })
})

test('bindArguments() gives two parameters that look alike what stands at their places', () => {
  const parameters = { properties: { from: { type: 'string' }, to: { type: 'string' } } }
  const past = [{ intent: 'copy notes.txt to old.txt', args: { from: 'notes.txt', to: 'old.txt' } }]
  const { args } = bindArguments('copy plan.txt to keep.txt', parameters, past)
  assert.deepEqual(args, { from: 'plan.txt', to: 'keep.txt' })
})

test('bindArguments() takes what stands in quotes as one value', () => {
  const parameters = { properties: { title: { type: 'string' } } }
  const past = [{ intent: 'add the task "call the bank"', args: { title: 'call the bank' } }]
  const { args } = bindArguments('Could you note "water all plants" as a task?', parameters, past)
  assert.deepEqual(args, { title: 'water all plants' })
})
