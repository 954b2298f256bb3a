/** Tests of the compact signatures that discover shows in place of schemas. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { signatureOf } from '#catalog'
import { limits } from '#model'

const string = { type: 'string' }

test('signatureOf() writes schemas as types', () => {
  const table: [unknown, string][] = [
    [{ type: 'object', properties: {} }, '{}'],
    [{}, 'unknown'],
    [true, 'unknown'],
    [false, 'never'],
    [undefined, 'unknown'],
    [
      { type: 'object', properties: { key: string, by: { type: 'integer' } }, required: ['key'] },
      '{ key: string, by?: number }',
    ],
    [{ properties: { 'a-b': { type: 'boolean' } } }, '{ "a-b"?: boolean }'],
    [{ type: 'array', items: string }, 'string[]'],
    [{ type: 'array', items: { enum: ['a', 1, null] } }, '("a" | 1 | null)[]'],
    [{ type: 'array' }, 'unknown[]'],
    [{ properties: { any: {}, 'a b': {} }, required: ['any'] }, '{ any, "a b"? }'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ const: 'x' }, '"x"'],
    [{ anyOf: [string, { type: 'number' }, string] }, 'string | number'],
    [{ oneOf: [string, {}] }, 'unknown'],
    [{ allOf: [{ properties: { a: string } }, { properties: { b: string } }] }, '{ a?: string } & { b?: string }'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [key: string]: number }'],
    [{ properties: { a: { $ref: '#/$defs/x y' } }, $defs: { 'x y': string } }, '{ a?: string }'],
    [{ properties: { a: { $ref: '#/$defs/x%20y' } }, $defs: { 'x y': string } }, '{ a?: string }'],
    [{ $ref: 'https://example.org/x' }, 'unknown'],
  ]
  for (const [schema, signature] of table) assert.equal(signatureOf(schema), signature)
})

test('signatureOf() ends for a schema that refers to itself', () => {
  const tree = { properties: { left: { $ref: '#' }, right: { $ref: '#' } } }
  assert(signatureOf(tree).length <= limits.signatureCharactersMax)
  assert.equal(signatureOf({ $ref: '#' }), 'unknown')
})

test('signatureOf() looks at a bounded number of places, however often a schema refers to itself', () => {
  let looked = 0
  const self = {
    get $ref() {
      looked += 1
      return '#'
    },
  }
  const names = Array.from({ length: 1000 }, (_, index) => `p${index}`)
  assert.equal(signatureOf({ properties: Object.fromEntries(names.map((name) => [name, self])) }), 'object')
  assert(looked < 10 * limits.signatureStepsMax, `${looked} places`)
})

test('signatureOf() says a large schema with less detail', () => {
  const inner = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`field${at}`, string])),
  }
  const large = { type: 'object', properties: { a: inner, b: inner, c: inner, d: inner, e: inner } }
  assert.equal(signatureOf(large), '{ a?: object, b?: object, c?: object, d?: object, e?: object }')
  const many = { enum: Array.from({ length: 100 }, (_, at) => at) }
  assert.match(signatureOf(many), / \| 11 \| …$/)
})

test('signatureOf() survives what is no schema', () => {
  for (const schema of [
    { $ref: '#/%' },
    { type: 7 },
    { properties: [] },
    { enum: 'x' },
    { anyOf: 3 },
    { required: 'x', properties: { x: 1 } },
    null,
    [],
  ]) {
    assert.equal(typeof signatureOf(schema), 'string')
  }
})
