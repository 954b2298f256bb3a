/**
 * Headers that repeat arguments: which must be there, what they must say, and which tools name
 * none.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '#model'
import { paramMismatch } from './param-headers.ts'

const region = { type: 'string', 'x-mcp-header': 'Region' }
const schema: JsonObject = {
  type: 'object',
  properties: {
    region,
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    inner: { type: 'object', properties: { deep: { type: 'string', 'x-mcp-header': 'Deep' } } },
    plain: { type: 'string' },
  },
}
const fits = (args: JsonObject, headers: Record<string, string>, of = schema) =>
  paramMismatch(of, args, headers) === null
const sealed = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`

test('paramMismatch() wants a header for each argument that the schema names one for, and for no other', () => {
  assert(fits({}, {}))
  assert(fits({ plain: 'x', region: null }, { 'mcp-param-region': 'not looked at' }))
  assert(fits({ region: 'eu' }, { 'mcp-param-region': 'eu' }))
  assert(fits({ inner: { deep: 'x' } }, { 'mcp-param-deep': 'x' }))
  for (const args of [{ region: 'eu' }, { count: 1 }, { dry: false }, { inner: { deep: 'x' } }, { region: '' }])
    assert.match(paramMismatch(schema, args, {}) ?? '', /is missing$/)
  assert(!fits({ region: 'eu' }, { 'mcp-param-region': 'us' }))
  assert(!fits({ region: 'eu' }, { 'mcp-param-region': 'EU' }))
})

test('paramMismatch() compares numbers as numbers, and the rest as text', () => {
  for (const said of ['42', '42.0', sealed('42')]) assert(fits({ count: 42 }, { 'mcp-param-count': said }), said)
  for (const said of ['43', '4.2e1', '0x2a', '', 'NaN']) assert(!fits({ count: 42 }, { 'mcp-param-count': said }), said)
  assert(fits({ dry: true }, { 'mcp-param-dry': 'true' }))
  assert(!fits({ dry: true }, { 'mcp-param-dry': '1' }))
  assert(fits({ region: '42.0' }, { 'mcp-param-region': '42.0' }))
  assert(!fits({ region: '42.0' }, { 'mcp-param-region': '42' }))
})

test('paramMismatch() opens what is sealed in base64, and takes anything else as it stands', () => {
  for (const text of ['Hello', ' padded ', 'naïve 東京', 'line\nline', '=?base64?SGVsbG8=?='])
    assert(fits({ region: text }, { 'mcp-param-region': sealed(text) }), text)
  for (const broken of ['=?base64?SGVsbG8?=', '=?base64?SGVs!!!bG8=?=', '=?base64?/w==?='])
    assert.match(paramMismatch(schema, { region: 'Hello' }, { 'mcp-param-region': broken }) ?? '', /is not base64/)
  for (const literal of ['SGVsbG8=', '=?base64?SGVsbG8=', 'SGVsbG8=?='])
    assert(fits({ region: literal }, { 'mcp-param-region': literal }), literal)
})

test('paramMismatch() asks for nothing where a tool names its headers as no client understands them', () => {
  const wrong = [
    { a: region, b: { type: 'string', 'x-mcp-header': 'region' } },
    { a: { type: 'string', 'x-mcp-header': 'two words' } },
    { a: { type: 'string', 'x-mcp-header': '' } },
    { a: { type: 'object', 'x-mcp-header': 'Region' } },
  ]
  for (const properties of wrong) assert(fits({ a: 'x', b: 'y' }, {}, { type: 'object', properties }))
})
