/** The record is read once: what is handed out with a run is the whole of it, or nothing. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Store } from '#record'
import { finishSample, openSample, startSample } from '#test'
import { type Reading, readAhead } from './read-ahead.ts'

/** Of each closed run how many lines came with it; null where it is to be read along its chain. */
function closedRuns(reading: Reading, after = 0): (readonly [string, number | null])[] {
  const found: (readonly [string, number | null])[] = []
  for (let seq = after; ; ) {
    const events = reading.after(seq)
    for (const { event, lines } of events)
      if (event.type === 'run.closed') found.push([event.body.run, lines?.length ?? null])
    if (events.length === 0) return found
    seq = events.at(-1)!.seq
  }
}

async function interleaved(store: Store) {
  const long = startSample(store)
  long.append('call.issued', {
    call: '1',
    tool: 'a:b',
    args: { text: 'x'.repeat(500) },
    effect: 'read',
    effectFrom: 'default',
    definition: null,
  })
  await long.durable()
  const short = await finishSample(store, 2)
  const end = async () => long.finish({ status: 'done', result: null, callCount: 1, ms: 5 })
  return { long: long.run, short, end }
}

test('readAhead() hands out each run with all of its lines, also where runs overlap', async (t) => {
  const store = await openSample(t)
  const { long, short, end } = await interleaved(store)
  await end()
  assert.deepEqual(closedRuns(readAhead(store)), [
    [short, 8],
    [long, 3],
  ])
})

test('readAhead() leaves a run to its chain that began before it, or that memory is not for', async (t) => {
  const store = await openSample(t)
  const { long, short, end } = await interleaved(store)
  const { seq } = store.eventsSince(0, 1000).findLast(({ run }) => run === 'home')!
  await end()
  assert.deepEqual(closedRuns(readAhead(store), seq), [[long, null]])
  assert.deepEqual(closedRuns(readAhead(store, 1000)), [
    [short, null],
    [long, null],
  ])
})

test('readAhead() goes on behind what another process has folded', async (t) => {
  const store = await openSample(t)
  const first = await finishSample(store)
  const reading = readAhead(store)
  assert.ok(reading.after(0).length > 0)
  const second = await finishSample(store)
  const { seq } = store.eventsSince(0, 1000).findLast(({ run }) => run === 'home')!
  const third = await finishSample(store)
  assert.deepEqual(closedRuns(reading, seq), [[third, 5]])
  assert.deepEqual(closedRuns(reading, 0), [
    [first, 5],
    [second, 5],
    [third, 5],
  ])
})
