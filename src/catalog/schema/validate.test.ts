/** Tests of argument validation: what a model is told, and that a foreign schema cannot harm us. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { type Json, type JsonObject, limits, type Tool } from '#model'
import { problemOf } from './validate.ts'

let count = 0
function tool(input: JsonObject): Tool {
  const rest = { annotations: {}, effect: 'read', effectFrom: 'default', digest: String(++count) } as const
  return { id: 'fx:add', server: 'fx', name: 'add', description: '', input, ...rest }
}

const schema: JsonObject = {
  type: 'object',
  properties: {
    key: { type: 'string', pattern: '^[a-z]+$' },
    by: { type: 'number', maximum: 10 },
    mode: { enum: ['fast', 'slow'] },
    place: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    list: { type: 'array', items: { type: 'integer' } },
    either: { anyOf: [{ type: 'string' }, { type: 'object', properties: { id: { type: 'number' } } }] },
    'a/b c': { type: 'string' },
  },
  required: ['key'],
  additionalProperties: false,
}

test('problemOf() is null for arguments that fit', () => {
  const args = { key: 'a', by: 1, mode: 'fast', place: { city: 'x' }, list: [1], either: { id: 1 }, 'a/b c': 'x' }
  assert.equal(problemOf(tool(schema), args), null)
  assert.equal(problemOf(tool({ type: 'object' }), { anything: 1 }), null)
})

test('problemOf() names tool, field and what is expected', () => {
  const table: [Json, string, string][] = [
    [{}, 'key', 'Cannot call "fx:add": "key" is missing, expected string'],
    [{ key: 'a', place: {} }, 'place.city', 'Cannot call "fx:add": "place.city" is missing, expected string'],
    [{ key: 1 }, 'key', 'Cannot call "fx:add": "key" must be string'],
    [{ key: 'a', by: 'x' }, 'by', 'Cannot call "fx:add": "by" must be number'],
    [{ key: 'a', mode: 'x' }, 'mode', 'Cannot call "fx:add": "mode" must be "fast" | "slow"'],
    [{ key: 'a', list: [1, 'x'] }, 'list.1', 'Cannot call "fx:add": "list.1" must be integer'],
    [{ key: 'a', list: [1.5] }, 'list.0', 'Cannot call "fx:add": "list.0" must be integer'],
    [{ key: 'A' }, 'key', 'Cannot call "fx:add": "key" must match the pattern ^[a-z]+$'],
    [{ key: 'a', either: 1 }, 'either', 'Cannot call "fx:add": "either" must be string | { id?: number }'],
    [{ key: 'a', 'a/b c': 1 }, 'a/b c', 'Cannot call "fx:add": "a/b c" must be string'],
    [
      { key: 'a', more: 1 },
      'more',
      'Cannot call "fx:add": "more" is not a parameter; there are key, by, mode, place, list, either, a/b c',
    ],
    [[1], 'arguments', 'Cannot call "fx:add": "arguments" must be an object'],
    [null, 'arguments', 'Cannot call "fx:add": "arguments" must be an object'],
  ]
  for (const [args, param, message] of table) {
    const problem = problemOf(tool(schema), args)
    assert.equal(problem?.message, message)
    assert.equal(problem.context.param, param)
    assert.equal(problem.context.tool, 'fx:add')
    assert.equal(problem.code, message.includes('missing') ? 'MISSING_REQUIRED_PARAM' : 'INVALID_INPUT_PARAM')
    assert.equal(problem.fate, 'correct')
  }
})

test('problemOf() says what to change, wherever the schema hides it', () => {
  const closed = { type: 'object', properties: { city: {}, zip: {} }, additionalProperties: false }
  const properties = {
    place: closed,
    places: { type: 'array', items: { $ref: '#/$defs/p' } },
    'a/b': { type: 'string' },
  }
  const table: [more: JsonObject, args: Json, message: string][] = [
    [{}, { place: { town: 1 } }, '"place.town" is not a parameter; there are city, zip'],
    [{}, { places: [{ town: 1 }] }, '"places.0.town" is not a parameter; there are city, zip'],
    [{ required: ['a/b'] }, {}, '"a/b" is missing, expected string'],
    [
      { anyOf: [{ required: ['place'] }, { required: ['places'] }] },
      {},
      '"arguments" must fit one of [{"required":["place"]},{"required":["places"]}]',
    ],
    [{ if: { required: ['place'] }, then: { required: ['a/b'] } }, { place: {} }, '"a/b" is missing, expected string'],
  ]
  for (const [more, args, message] of table) {
    const input = { type: 'object', properties, $defs: { p: closed }, ...more } as JsonObject
    assert.equal(problemOf(tool(input), args)?.message, `Cannot call "fx:add": ${message}`)
  }
})

test('problemOf() carries the value, if it is short, and the allowed values', () => {
  const problem = problemOf(tool(schema), { key: 'a', mode: 'x' })
  const context = {
    param: 'mode',
    details: 'must be "fast" | "slow"',
    value: 'x',
    allowed_values: ['fast', 'slow'],
    tool: 'fx:add',
  }
  assert.deepEqual(problem?.context, context)
  assert(!('value' in problemOf(tool(schema), { key: 'A'.repeat(10_000) })!.context))
  assert.match(problemOf(tool(schema), { key: 'A' })!.message, /"key" .*pattern/)
  assert.match(problemOf(tool(schema), { key: 'a', by: 11 })!.message, /"by" .*10/)
})

test('problemOf() understands older drafts and references inside the schema', () => {
  const word = { type: 'string' }
  const old = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    definitions: { word },
    properties: { a: { $ref: '#/definitions/word' } },
  }
  assert.equal(problemOf(tool(old), { a: 1 })?.message, 'Cannot call "fx:add": "a" must be string')
  const pair = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: { a: { items: [word, { type: 'number' }] } },
  }
  assert.equal(problemOf(tool(pair), { a: ['x', 'y'] })?.context.param, 'a.1')
})

test('problemOf() lets the server judge where the schema is of no use', () => {
  let deep: JsonObject = { type: 'string' }
  for (let depth = 0; depth < 200; depth++) deep = { properties: { a: deep } }
  const useless: JsonObject[] = [
    { properties: { a: { $ref: 'https://example.org/schema.json' } } },
    { properties: { a: { $ref: '#/nowhere' } } },
    { properties: { a: { type: 'string', pattern: '(' } } },
    { properties: { a: { enum: ['x'.repeat(limits.toolSchemaBytesMax)] } } },
    { $id: 'x', properties: { a: { $id: 'x' } } },
    deep,
  ]
  for (const input of useless) assert.equal(problemOf(tool(input), { a: 'x' }), null)
})

test('problemOf() does not hang on a pattern that takes for ever, nor on a schema that refers to itself', () => {
  const began = Date.now()
  const evil = tool({ properties: { a: { type: 'string', pattern: '^(a+)+$' } } })
  assert.equal(problemOf(evil, { a: `${'a'.repeat(40)}!` }), null)
  const endless = tool({ properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: { $ref: '#/$defs/x' } } })
  assert.equal(problemOf(endless, { a: 1 }), null)
  const laughs = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `l${at}`,
      { allOf: [{ $ref: `#/$defs/l${at + 1}` }, { $ref: `#/$defs/l${at + 1}` }] },
    ]),
  )
  assert.equal(
    problemOf(tool({ properties: { a: { $ref: '#/$defs/l0' } }, $defs: { ...laughs, l40: {} } }), { a: 1 }),
    null,
  )
  const unique = tool({ properties: { a: { uniqueItems: true } } })
  assert.equal(problemOf(unique, { a: Array.from({ length: 60_000 }, (_, at) => ({ at })) }), null)
  assert(Date.now() - began < 2000)
  assert.equal(problemOf(tool(schema), {})?.code, 'MISSING_REQUIRED_PARAM')
})
