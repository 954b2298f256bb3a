/**
 * Tests of JSON with comments: what it reads, and that what it refuses is placed and never quoted.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { JsoncError, parseJsonc } from './jsonc.ts'

test('parseJsonc() reads comments, trailing commas and a byte order mark', () => {
  const text =
    '\uFEFF// one\n{ "a": [1, 2.5e3, -0, ], /* two\n */ "b": { "c": null, }, "d": "// no comment \\u00e9\\n", }\n// end'
  assert.deepEqual(parseJsonc(text), { a: [1, 2500, -0], b: { c: null }, d: '// no comment é\n' })
})

test('parseJsonc() agrees with JSON.parse on plain JSON', () => {
  for (const text of [
    '{}',
    '[]',
    '"x"',
    ' true ',
    'null',
    '-1.5E-2',
    '{"a":{"b":[[],{}]},"":"\\"\\\\\\/"}',
    '"😀\u2028"',
  ]) {
    assert.deepEqual(parseJsonc(text), JSON.parse(text), text)
  }
})

test('parseJsonc() takes __proto__ for a key like any other', () => {
  const value = parseJsonc('{"__proto__": {"polluted": true}}') as Record<string, unknown>
  assert.deepEqual(Object.keys(value), ['__proto__'])
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
})

test('parseJsonc() names the place of an error and does not quote the text', () => {
  const table: [string, number, number, RegExp][] = [
    ['{ "token": s3cret }', 1, 12, /expected a value/],
    ['{\n  "token": "s3cret"\n  "b": 1 }', 3, 3, /expected "," or "}"/],
    ['["s3cret', 1, 2, /well-formed string/],
    ['{"a": 1} s3cret', 1, 10, /end of the file/],
    ['{"s3cret": 1, "s3cret": 2}', 1, 15, /each key once/],
    ['{s3cret: 1}', 1, 2, /key in double quotes/],
    ['{"a" 1}', 1, 6, /expected ":"/],
    ['[1 s3cret]', 1, 4, /expected "," or "]"/],
    ['/* s3cret', 1, 1, /expected a value/],
    ['"a\nb"', 1, 1, /well-formed string/],
    ['', 1, 1, /expected a value/],
    ['01', 1, 2, /end of the file/],
  ]
  for (const [text, line, column, message] of table) {
    assert.throws(
      () => parseJsonc(text),
      (error) =>
        error instanceof JsoncError &&
        error.line === line &&
        error.column === column &&
        message.test(error.message) &&
        !error.message.includes('s3cret'),
      text,
    )
  }
})

test('parseJsonc() refuses values nested too deeply instead of overflowing', () => {
  assert.throws(() => parseJsonc('['.repeat(100_000)), /fewer nested values/)
})

test('parseJsonc() takes time in proportion to a long string that never ends', () => {
  assert.throws(() => parseJsonc(`"${'a\\n'.repeat(300_000)}`), /well-formed string/)
})
