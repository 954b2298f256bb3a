/**
 * Tests of observed shapes: what they say, that more answers only widen them, and that they stay
 * small.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { type Json, limits } from '#model'
import { covers, mergeShapes, schemaOf, shapeOf } from './infer-shape.ts'
import { signatureOf } from './signature.ts'

const said = (...values: Json[]) => signatureOf(schemaOf(values.map(shapeOf).reduce(mergeShapes)))

test('shapeOf() tells kinds, members and items', () => {
  assert.equal(said('x'), 'string')
  assert.equal(said(null), 'null')
  assert.equal(said([]), 'unknown[]')
  assert.equal(said({ a: 1, b: [{ c: true }] }), '{ a: number, b: { c: boolean }[] }')
  assert.equal(said([1, 'x', { a: 1 }]), '(number | { a: number } | string)[]')
})

test('mergeShapes() keeps what every answer had as required, and widens the rest', () => {
  assert.equal(said({ a: 1, b: 'x' }, { a: null, c: true }), '{ a: null | number, b?: string, c?: boolean }')
  assert.equal(said({ list: [] }, { list: [{ id: 1 }] }), '{ list: { id: number }[] }')
  assert.equal(said([{ a: 1 }, { a: 1, b: 2 }]), '{ a: number, b?: number }[]')
  assert.equal(said({ a: 1 }, 'text', { b: 1 }), '{ a?: number, b?: number } | string')
})

test('mergeShapes() comes to rest, whatever the order', () => {
  const values: Json[] = [{ a: 1 }, { a: 'x', b: [1] }, [1], 'text', { b: ['x'], c: { d: null } }, {}]
  const shape = values.map(shapeOf).reduce(mergeShapes)
  for (const value of values) assert.deepEqual(mergeShapes(shape, shapeOf(value)), shape)
  assert.deepEqual(values.toReversed().map(shapeOf).reduce(mergeShapes), shape)
})

test('covers() says yes only where another answer would change nothing, and does so of one like those before', () => {
  const parts: Json[] = [
    1,
    'x',
    null,
    true,
    [],
    [1],
    ['x', null],
    {},
    { a: 1 },
    { a: 'x' },
    { a: 1, b: 2 },
    { __proto__x: 1 },
  ]
  const values = parts.flatMap((part): Json[] => [part, [part, part], { in: part }, { in: [part], of: part }])
  let covered = 0
  for (const one of values) {
    for (const other of values) {
      const shape = [one, other].map(shapeOf).reduce(mergeShapes)
      for (const value of values) {
        if (!covers(shape, value)) continue
        covered += 1
        assert.deepEqual(mergeShapes(shape, shapeOf(value)), shape, JSON.stringify([one, other, value]))
      }
      assert.equal(covers(shape, one) && covers(shape, other), true, JSON.stringify([one, other]))
    }
  }
  assert.ok(covered > 2 * values.length ** 2)
})

test('shapeOf() takes an object with too many different keys for a table, also when they come one by one', () => {
  const many = Array.from({ length: 200 }, (_, at): [string, Json] => [`user${at}`, { age: at }])
  assert.equal(said(Object.fromEntries(many)), '{ [key: string]: { age: number } }')
  assert.equal(said(...many.map(([key, value]): Json => ({ [key]: value }))), '{ [key: string]: { age: number } }')
})

test('shapeOf() stays small and is not fooled by keys', () => {
  let deep: Json = 1
  for (let depth = 0; depth < 1000; depth++) deep = { deeper: deep, list: [deep] }
  const wide = (depth: number): Json =>
    depth === 0 ? 1 : Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`a-long-key-${at}`, wide(depth - 1)]))
  for (const value of [deep, wide(4), JSON.parse('{"__proto__":{"x":1},"constructor":1}') as Json]) {
    const shape = shapeOf(value)
    assert(JSON.stringify(shape).length <= limits.shapeBytesMax)
    assert.deepEqual(mergeShapes(shape, shape), shape)
  }
  assert.equal(({} as { x?: unknown }).x, undefined)
})
