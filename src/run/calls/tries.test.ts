/** The three outcomes of a try, and what each allows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, type Effect, type Try } from '#model'
import { tryUntilKnown } from './tries.ts'

const { signal } = new AbortController()
const error = new AppError('UPSTREAM_UNREACHABLE', 'gone')
const answered: Try = { outcome: 'answered', ok: true, value: 1 }
const toolError: Try = { outcome: 'answered', ok: false, error: new AppError('TOOL_ERROR', 'no') }
const notSent: Try = { outcome: 'not_sent', error }
const unknown: Try = { outcome: 'unknown', error }
const timeout: Try = { outcome: 'unknown', error: new AppError('CALL_TIMEOUT', 'late') }
const changed: Try = { outcome: 'not_sent', error: new AppError('TOOL_CHANGED', 'another') }
const noRoom: Try = { outcome: 'not_sent', error: new AppError('BUDGET_EXCEEDED', 'full') }

async function outcomeOf(effect: Effect, tries: Try[], slow = 0, isLast = () => false, isInDoubt = () => false) {
  let made = 0
  let time = 0
  const make = async () => {
    time += slow
    return tries[made++] ?? tries.at(-1)!
  }
  const outcome = await tryUntilKnown(effect, {
    now: () => time,
    make,
    pause: async (ms) => {
      time += ms
    },
    signal,
    isLast,
    isInDoubt,
  })
  return [outcome.outcome, made]
}

test('tryUntilKnown() makes an unsafe call again only when it was surely not sent', async () => {
  assert.deepEqual(await outcomeOf('unsafe', [notSent, answered]), ['answered', 2])
  assert.deepEqual(await outcomeOf('unsafe', [changed]), ['not_sent', 1])
  assert.deepEqual(await outcomeOf('unsafe', [noRoom]), ['not_sent', 3])
  assert.deepEqual(await outcomeOf('unsafe', [unknown, answered]), ['in_doubt', 1])
  assert.deepEqual(await outcomeOf('unsafe', [notSent, unknown, answered]), ['in_doubt', 2])
})

test('tryUntilKnown() repeats what is safe to repeat, within limits', async () => {
  for (const effect of ['read', 'idempotent', 'keyed:id'] as const) {
    assert.deepEqual(await outcomeOf(effect, [unknown, unknown, answered]), ['answered', 3])
    assert.deepEqual(await outcomeOf(effect, [unknown]), ['given_up', 4])
    assert.deepEqual(await outcomeOf(effect, [unknown], 6000), ['given_up', 2])
    assert.deepEqual(await outcomeOf(effect, [timeout], 6000), ['given_up', 1])
    assert.deepEqual(await outcomeOf(effect, [notSent, unknown]), ['given_up', 5])
  }
})

test("tryUntilKnown() takes the tool's own error as its answer", async () => {
  assert.deepEqual(await outcomeOf('read', [toolError, answered]), ['answered', 1])
})

test('tryUntilKnown() waits for a server that cannot be reached, for five seconds', async () => {
  const away = (tries: number) => [...Array<Try>(tries).fill(notSent), answered]
  for (const effect of ['read', 'unsafe'] as const) {
    assert.deepEqual(await outcomeOf(effect, away(7)), ['answered', 8])
    assert.deepEqual(await outcomeOf(effect, [notSent]), ['not_sent', 10])
    assert.deepEqual(await outcomeOf(effect, [notSent], 2000), ['not_sent', 4])
  }
})

test('tryUntilKnown() says of nothing that it was not sent where an earlier try may have been', async () => {
  const inDoubt = () => true
  assert.deepEqual(await outcomeOf('unsafe', [changed], 0, undefined, inDoubt), ['in_doubt', 1])
  assert.deepEqual(await outcomeOf('idempotent', [changed], 0, undefined, inDoubt), ['given_up', 1])
  assert.deepEqual(await outcomeOf('idempotent', [unknown, changed]), ['given_up', 2])
})

test('tryUntilKnown() tries nothing again while the run is being stopped, also when that comes during its pause', async () => {
  const stopped = () => true
  assert.deepEqual(await outcomeOf('keyed:id', [unknown, answered], 0, stopped), ['given_up', 1])
  assert.deepEqual(await outcomeOf('idempotent', [notSent, answered], 0, stopped), ['not_sent', 1])
  assert.deepEqual(await outcomeOf('unsafe', [unknown, answered], 0, stopped), ['in_doubt', 1])
  assert.deepEqual(await outcomeOf('read', [answered], 0, stopped), ['answered', 1])
  const duringPause = () => {
    let asked = 0
    return () => ++asked > 1
  }
  assert.deepEqual(await outcomeOf('keyed:id', [unknown, answered], 0, duringPause()), ['given_up', 1])
  assert.deepEqual(await outcomeOf('unsafe', [notSent, answered], 0, duringPause()), ['not_sent', 1])
})

test('tryUntilKnown() waits as long as a busy server asks for: a minute each, five together', async () => {
  const busy = (retryAfterMs: number): Try => ({
    outcome: 'not_sent',
    error: new AppError('UPSTREAM_UNREACHABLE', 'busy'),
    retryAfterMs,
  })
  assert.deepEqual(await outcomeOf('read', [busy(30_000), busy(1), answered]), ['answered', 3])
  assert.deepEqual(await outcomeOf('read', [busy(100_000)]), ['not_sent', 6])
  // It does not say how long: the pauses grow up to a minute.
  assert.deepEqual(await outcomeOf('read', [busy(0)]), ['not_sent', 15])
})

test('tryUntilKnown() asks a model once more where it is not known what came of it', async () => {
  const cut: Try = { outcome: 'unknown', error: new AppError('UPSTREAM_UNREACHABLE', 'cut'), retriesMax: 1 }
  assert.deepEqual(await outcomeOf('read', [cut]), ['given_up', 2])
  assert.deepEqual(await outcomeOf('read', [cut, answered]), ['answered', 2])
  const late: Try = { outcome: 'unknown', error: new AppError('CALL_TIMEOUT', 'late'), retriesMax: 1 }
  assert.deepEqual(await outcomeOf('read', [late, answered], 600_000), ['answered', 2])
  assert.deepEqual(await outcomeOf('read', [late], 600_000), ['given_up', 2])
})
