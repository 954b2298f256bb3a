/** Blobs: written once, on disk before they are named, and never trusted unread. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { AppError, type EventBodies, type Stored } from '#model'
import { finishSample, openSample } from '#test'

test('a large value is one file named by its digest, however often it is recorded', async (t) => {
  const store = await openSample(t)
  const value = 'é'.repeat(50_000)
  const run = await finishSample(store, 3, value)
  const [digest, ...rest] = readdirSync(join(store.home, 'blobs'))
  assert.deepEqual(rest, [])
  assert.equal(readFileSync(join(store.home, 'blobs', digest!), 'utf8'), JSON.stringify(value))
  const references = store
    .events(run, { type: 'call.resolved' })
    .map(({ body }) => (body as EventBodies['call.resolved']).value)
  assert.deepEqual(references, Array(3).fill({ $blob: digest, bytes: 100_002 }))
})

test('text() refuses a blob whose bytes are not those of its name', async (t) => {
  const store = await openSample(t)
  await finishSample(store, 1, 'x'.repeat(70_000))
  const file = join(store.home, 'blobs', readdirSync(join(store.home, 'blobs'))[0]!)
  const bytes = readFileSync(file)
  bytes[100] = 0x79
  writeFileSync(file, bytes)
  const reference = { $blob: file.slice(-64), bytes: bytes.length }
  assert.throws(
    () => store.text(reference as unknown as Stored<unknown>),
    (error) => error instanceof AppError && error.code === 'LEDGER_BROKEN',
  )
  assert.throws(() => store.text({ $blob: '../../metier.db', bytes: 1 } as unknown as Stored<unknown>), /is no digest/)
})
