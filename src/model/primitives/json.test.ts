/** Tests of JSON as exact text and of its depth. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { isObject, isTextDeeper, isWithinDepth, RawJson, toText } from '#model'

test('toText() writes raw JSON as it stands, to the byte', () => {
  const text = '{"b" :1.0,"a":1e2}'
  assert.equal(toText(new RawJson(text)), text)
  assert.deepEqual(JSON.parse(JSON.stringify({ inside: new RawJson(text) })), { inside: { b: 1, a: 100 } })
})

test('toText() says null for what JSON cannot say', () => {
  for (const value of [undefined, () => 1, Symbol('x')]) assert.equal(toText(value), 'null')
  assert.equal(toText({ a: undefined, b: [undefined] }), '{"b":[null]}')
})

test('isObject() is true of objects that are no lists', () => {
  assert.equal(isObject({}), true)
  for (const value of [null, [], 'x', 1, undefined]) assert.equal(isObject(value), false)
})

test('isWithinDepth() counts levels of objects and lists, and survives more than any stack holds', () => {
  const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
  assert.deepEqual(
    [isWithinDepth('text', 0), isWithinDepth(null, 0), isWithinDepth({}, 0), isWithinDepth({}, 1)],
    [true, true, false, true],
  )
  assert.deepEqual([isWithinDepth(nested(3), 3), isWithinDepth({ a: 1, b: nested(3) }, 3)], [true, false])
  assert.equal(isWithinDepth(nested(1_000_000), 512), false)
})

test('isTextDeeper() counts brackets outside of strings, without parsing', () => {
  const lists = (depth: number, inside = '') => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`
  assert.deepEqual(
    [isTextDeeper(lists(3), 3), isTextDeeper(lists(4), 3), isTextDeeper(lists(1_000_000), 512)],
    [false, true, true],
  )
  assert.equal(isTextDeeper(lists(3, '"[[[[\\"{{{{\\\\"'), 3), false, 'what stands in a string is no level')
  assert.equal(isTextDeeper(`[${Array(100).fill('{"a":[]}').join(',')}]`, 3), false, 'siblings do not add up')
  assert.equal(isTextDeeper(lists(3, '"\\\\",{}'), 3), true, 'an escaped backslash ends no string early')
})
