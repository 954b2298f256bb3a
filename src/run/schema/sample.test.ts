/** Values that schemas describe. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#model'
import { sampleOf } from './sample.ts'

test('sampleOf() gives what is required, and nothing else', () => {
  const user = {
    type: 'object',
    properties: {
      id: { type: 'integer', minimum: 1 },
      name: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      more: {},
    },
    required: ['id', 'name'],
  }
  const table: [schema: Json, sample: Json][] = [
    [{}, {}],
    [{ type: 'string' }, ''],
    [{ type: 'string', minLength: 2 }, 'xx'],
    [{ type: 'string', format: 'date-time' }, '2026-01-01T00:00:00Z'],
    [{ type: 'string', format: 'of our own' }, ''],
    [{ type: ['null', 'string'] }, null],
    [{ type: 'number', exclusiveMinimum: 2 }, 3],
    [{ type: 'integer', minimum: 1.5 }, 2],
    [{ type: 'number', maximum: -1 }, -1],
    [{ const: null }, null],
    [{ enum: ['a', 'b'] }, 'a'],
    [{ type: 'array', items: user }, []],
    [{ type: 'array', minItems: 2, prefixItems: [{ const: 1 }], items: { type: 'boolean' } }, [1, false]],
    [user, { id: 1, name: '' }],
    [
      {
        $ref: '#/$defs/Page',
        $defs: { User: user, Page: { type: 'object', properties: { of: { $ref: '#/$defs/User' } }, required: ['of'] } },
      },
      { of: { id: 1, name: '' } },
    ],
    [
      { allOf: [user, { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'] }] },
      { id: 1, name: '', on: false },
    ],
    [{ oneOf: [{ type: 'number' }, { type: 'string' }] }, 0],
    [
      { type: 'object', properties: { a: { const: 1 } }, required: ['a'], anyOf: [{ required: ['b'] }] },
      { a: 1, b: {} },
    ],
  ]
  for (const [schema, sample] of table) assert.deepEqual(sampleOf(schema), sample, JSON.stringify(schema))
})

test('sampleOf() comes to an end with a schema that needs itself, twice', () => {
  const schema = { type: 'object', properties: { a: { $ref: '#' }, b: { $ref: '#' } }, required: ['a', 'b'] }
  assert.ok(JSON.stringify(sampleOf(schema)).length < 100_000)
  assert.ok(JSON.stringify(sampleOf({ type: 'array', minItems: 1e9, items: {} })).length < 10_000)
})
