/** The relations between limits that other code relies on. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '#model'

/** Each row grows from left to right, or stays. */
const ordered: (keyof typeof limits)[][] = [
  ['previewCharactersMax', 'inlineResultBytesMax', 'eventValueBytesMax', 'eventLineBytesMax'],
  ['eventValueBytesMax', 'resultBytesMax', 'blobBytesMax'],
  ['callArgumentsBytesMax', 'resultBytesMax'],
  ['programArgumentsBytesMax', 'blobBytesMax'],
  ['programBytesMax', 'blobBytesMax'],
  ['resultBytesMax', 'upstreamLineBytesMax'],
  ['resultPageDefault', 'resultPageMax', 'resultBytesMax'],
  ['discoverLimitDefault', 'discoverLimitMax'],
  ['secretBytesMin', 'secretBytesMax', 'eventValueBytesMax'],
  ['programLogLineBytesMax', 'eventValueBytesMax'],
  ['commitDelayMsMax', 'foreignPollMs'],
  ['callTimeoutMsDefault', 'budgetWallMsDefault'],
  ['unknownTriesWithinMs', 'callTimeoutMsDefault'],
  ['programStackBytesMax', 'programMemoryBytesMax'],
  ['programBytesMax', 'httpBodyBytesMax'],
  ['callsInFlightMax', 'budgetCallsDefault'],
]

for (const names of ordered) {
  test(`limits: ${names.join(' ≤ ')}`, () => {
    const values = names.map((name) => limits[name])
    assert.deepEqual(
      values,
      values.toSorted((a, b) => a - b),
    )
  })
}

test('limits: every one is a positive whole number', () => {
  for (const [name, value] of Object.entries(limits)) assert.ok(Number.isSafeInteger(value) && value > 0, name)
})

test('limits: what others rely on is pinned', () => {
  const { foreignPollMs, eventValueBytesMax, inlineResultBytesMax, previewCharactersMax, callsInFlightMax } = limits
  assert.ok(foreignPollMs <= 100, 'an owner sees what others added within 100 ms')
  assert.deepEqual(
    [eventValueBytesMax, inlineResultBytesMax, previewCharactersMax, callsInFlightMax],
    [65536, 8192, 240, 64],
  )
  assert.deepEqual([limits.discoverLimitDefault, limits.discoverLimitMax], [10, 50])
  assert.deepEqual(
    [limits.budgetCallsDefault, limits.budgetWallMsDefault, limits.budgetBytesDefault],
    [1000, 600_000, 100_000_000],
  )
  assert.deepEqual([limits.unknownTriesMax, limits.unknownTriesWithinMs], [3, 5000])
  assert.deepEqual([limits.checkpointEventsMax, limits.checkpointMsMax], [1000, 600_000])
  assert.ok(limits.programStackBytesMax <= 256 * 1024, "a deeper stack would overflow the engine's own")
})
