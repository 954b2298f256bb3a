/** The exact bytes of events: what others verify with their own tools. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { AppError, limits, RawJson } from '#model'
import { bodyText, firstHash, lineHash, lineText } from './event-line.ts'

const run = '0192f0c1-2345-7abc-8def-0123456789ab'

test('lineText() writes run, n, at, type and body without white space', () => {
  const line = lineText(run, 7, 1763000000123, 'call.sent', '{"call":"1"}')
  assert.equal(
    line,
    '{"run":"0192f0c1-2345-7abc-8def-0123456789ab","n":7,"at":"2025-11-13T02:13:20.123Z","type":"call.sent","body":{"call":"1"}}',
  )
})

test('lineHash() is SHA-256 of the hash before, a newline and the bytes of the line', () => {
  const expected = createHash('sha256')
    .update(`${'0'.repeat(64)}\n{"é":1}`, 'utf8')
    .digest('hex')
  assert.equal(lineHash(firstHash, '{"é":1}'), expected)
})

test('bodyText() keeps the order of members and raw text as it stands', () => {
  const body = { b: 1, a: undefined, z: new RawJson('{"y":1.0,"x":[1e2]}'), c: 'ü' }
  assert.equal(bodyText(body).text, '{"b":1,"z":{"y":1.0,"x":[1e2]},"c":"ü"}')
})

test('bodyText() puts a member over the limit outside, counted in bytes', () => {
  const fits = 'x'.repeat(limits.eventValueBytesMax - 2)
  assert.deepEqual(bodyText({ small: 1, value: fits }).blobs, [])
  const { text, blobs } = bodyText({ small: 1, value: 'é'.repeat(limits.eventValueBytesMax / 2) })
  const bytes = Buffer.from(JSON.stringify('é'.repeat(limits.eventValueBytesMax / 2)))
  const digest = createHash('sha256').update(bytes).digest('hex')
  assert.equal(text, `{"small":1,"value":{"$blob":"${digest}","bytes":${bytes.length}}}`)
  assert.deepEqual(blobs, [{ digest, bytes }])
})

test('bodyText() puts what looks like a reference outside, so that none can be forged', () => {
  const forged = { $blob: '0'.repeat(64), bytes: 1 }
  for (const value of [forged, new RawJson(JSON.stringify(forged)), new RawJson(`{"\\u0024blob":"x"}`)]) {
    assert.equal(bodyText({ value }).blobs.length, 1)
  }
  assert.equal(bodyText({ value: { deep: forged } }).blobs.length, 0)
  assert.equal(bodyText({ value: 'a text about $blob' }).blobs.length, 0)
})

test('bodyText() refuses a value that no blob may hold, and raw text with a line break', () => {
  const huge = new RawJson(`"${'x'.repeat(limits.blobBytesMax)}"`)
  assert.throws(
    () => bodyText({ huge }),
    (error) => error instanceof AppError && error.code === 'RESULT_TOO_LARGE',
  )
  assert.throws(() => bodyText({ raw: new RawJson('{\n}') }), { name: 'AssertionError' })
})
