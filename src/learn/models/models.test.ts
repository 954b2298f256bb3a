/** Models and their calibration: what separates is learned, what was said is held to account. */
import assert from 'node:assert/strict'
import test from 'node:test'
import {
  calibrationError,
  fitLinear,
  fitLogistic,
  fitTrees,
  packLinear,
  predictLogistic,
  predictTrees,
  reliabilityOf,
  unpackLinear,
} from './models.ts'

test('fitLinear() learns which terms speak for which labels, and keeps them packed', () => {
  const documents = ['find train', 'find hotel', 'book train', 'book hotel'].map((text) => text.split(' '))
  const labels = [[0], [1], [0, 2], [1, 2]]
  const model = fitLinear(documents, labels, 3, { epochs: 30, countMin: 1, weightsMax: 100 })
  for (const one of [model, unpackLinear(packLinear(model))]) {
    const likely = (text: string) =>
      [...one.logits(text.split(' ')).keys()].filter((label) => one.logits(text.split(' '))[label]! > 0)
    assert.deepEqual([likely('find a train'), likely('book a hotel')], [[0], [1, 2]])
    assert.ok(one.weightOf('book', 2) > 0 && one.weightOf('unknown', 2) === 0)
  }
  assert.deepEqual(fitLinear(documents, labels, 3, { epochs: 1, countMin: 1, weightsMax: 6 }).terms.length, 2)
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

test('fitTrees() hides columns from each tree, the same ones for the same rows', () => {
  const rows = Array.from({ length: 60 }, (_, at) => [at % 2, (at % 2) + (at % 5), at % 7])
  const labels = rows.map(([first]) => first!)
  const fit = () =>
    fitTrees(rows, labels, { trees: 20, depth: 2, rate: 0.3, leafWeightMin: 0.01, l2: 0.1, columnShare: 0.5 })
  const model = fit()
  assert.deepEqual(fit(), model)
  const isSeen = (nodes: readonly number[]) => nodes[0] === 0 && nodes[1] !== 1e9
  const seen = model.splits.filter(isSeen).length
  assert.ok(seen > 0 && seen < 20, 'the column that tells is the first choice of those trees alone that see it')
  assert.ok(predictTrees(model, [1, 3, 2]) > 0.9 && predictTrees(model, [0, 2, 2]) < 0.1)
  const none = fitTrees([], [], { trees: 2, depth: 1, rate: 0.3, leafWeightMin: 1, l2: 1, columnShare: 0.5 })
  assert.ok(predictTrees(none, []) > 0, 'without rows there are no columns to choose from')
})
