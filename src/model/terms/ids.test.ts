/**
 * Tests of ids: made as UUID v7, accepted as any RFC 9562 UUID, refused with the name of the
 * parameter.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError, isUuid, newId, parseId, type RunId, splitToolId, uuidOf } from '#model'

const max = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

test('newId() makes a UUID v7 that begins with the time', () => {
  const now = Date.UTC(2026, 10, 15, 12, 34, 56, 789)
  for (let i = 0; i < 1000; i++) {
    const id = newId<RunId>(now)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.equal(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), now)
    assert.ok(isUuid(id))
  }
})

test('newId() never makes the same id twice', () => {
  assert.equal(new Set(Array.from({ length: 10_000 }, () => newId(0))).size, 10_000)
})

test('newId() takes the whole range of 48 bits and nothing beyond', () => {
  assert.match(newId(0), /^00000000-0000-7/)
  assert.match(newId(2 ** 48 - 1), /^ffffffff-ffff-7/)
  assert.throws(() => newId(2 ** 48), RangeError)
  assert.throws(() => newId(-1), RangeError)
})

test('isUuid() accepts every version and variant of RFC 9562', () => {
  const examples = [
    'C232AB00-9414-11EC-B3C8-9F6BDECED846', // v1, and the upper case of the RFC's own examples
    '000003e8-cbb9-21ea-b201-00045a86c8a1', // v2
    '5df41881-3aed-3515-88a7-2f4a814cf09e', // v3
    '919108f7-52d1-4320-9bac-f847db4148a8', // v4
    '2ed6657d-e927-568b-95e1-2665a8aea6a2', // v5
    '1EC9414C-232A-6B00-B3C8-9F6BDECED846', // v6
    '017F22E2-79B0-7CC3-98C4-DC0C0C07398F', // v7
    '2489E9AD-2EE2-8E00-8EC9-32D5F69181C0', // v8
    '00000000-0000-0000-0000-000000000000',
    max,
    max.toUpperCase(),
  ]
  for (const example of examples) assert.equal(isUuid(example), true, example)
})

test('isUuid() refuses what is no UUID of RFC 9562', () => {
  const id = '919108f7-52d1-4320-9bac-f847db4148a8'
  const refused: unknown[] = [
    '',
    id.slice(1),
    `${id}0`,
    ` ${id}`,
    `${id}\n`,
    `{${id}}`,
    `urn:uuid:${id}`,
    id.replaceAll('-', ''),
    id.replace('-4320', '-0320'), // no version 0 beside nil
    id.replace('-4320', '-9320'), // no version 9
    id.replace('-9bac', '-cbac'), // the variant of Microsoft
    id.replace('-9bac', '-7bac'), // the variant of NCS
    id.replace('9', 'g'),
    undefined,
    null,
    42,
    { toString: () => id },
    [id],
  ]
  for (const value of refused) assert.equal(isUuid(value), false, String(value))
})

test('parseId() answers one written form', () => {
  assert.equal(parseId<RunId>('run', '017F22E2-79B0-7CC3-98C4-DC0C0C07398F'), '017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
})

test('parseId() names the parameter that it refuses', () => {
  assert.throws(
    () => parseId('taskID', 'task-1'),
    (error) => {
      assert.ok(error instanceof AppError)
      const details = 'must be a UUID as of RFC 9562'
      assert.deepEqual(error.toJSON(), {
        code: 'INVALID_INPUT_PARAM',
        message: `Cannot read "taskID": ${details}`,
        context: { param: 'taskID', details, value: 'task-1' },
        fate: 'correct',
      })
      return true
    },
  )
})

test('splitToolId() divides at the first colon', () => {
  assert.deepEqual(splitToolId('fs:read'), { server: 'fs', name: 'read' })
  assert.deepEqual(splitToolId('a:b:c'), { server: 'a', name: 'b:c' })
  for (const id of ['', ':', 'fs', 'fs:', ':read']) assert.equal(splitToolId(id), null, id)
})

test('uuidOf() derives the same UUID of version 8 from the same text', () => {
  assert.equal(uuidOf('a'), 'ca978112-ca1b-8dca-bac2-31b39a23dc4d')
  assert.notEqual(uuidOf('a'), uuidOf('b'))
  assert.ok(isUuid(uuidOf('')))
})
