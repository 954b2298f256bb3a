/** Values that an intent says itself, beside the inputs that they are for. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { stemsOf } from '#learn/text'
import { statedFeatures } from './stated-values.ts'
import type { Field } from './tool-shape.ts'

const wanted = (name: string, type: Field['type'], description = '') => ({
  field: { name, type, description, required: true },
  key: name,
  name: new Set(stemsOf(name)),
  said: new Set(stemsOf(description)),
  place: 0.5,
})

test('statedFeatures() finds the number beside the word of its input, and no number for a truth value', () => {
  const [budget, guests, isPaid] = [wanted('budget', 'number'), wanted('guests', 'number'), wanted('paid', 'boolean')]
  const intent = 'Plan a dinner with a budget of 500 dollars for 8 guests that are paid'
  const found = statedFeatures(intent, [budget, guests, isPaid], () => 1)
  const [byName, margin] = [0, 2].map((at) => [budget, guests, isPaid].map(({ field }) => found.get(field)![at]!))
  assert.deepEqual(byName, [1 / 3, 1 / 2, 0])
  assert.ok(margin![0]! > 0 && margin![1]! > 0 && margin![2] === 0)
})

test('statedFeatures() knows an example of the description in the intent, and says nothing without an intent', () => {
  const mode = wanted('mode', 'string', 'the mode of transport, such as "train" or "truck"')
  const example = (intent: string) => statedFeatures(intent, [mode], () => 1).get(mode.field)![6]
  assert.deepEqual(['send it by truck', 'send it by air', ''].map(example), [1, 0, -1])
})
