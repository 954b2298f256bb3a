/** Tests of the small TOML reader: what it understands, and that it says so where it does not. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { parseToml } from './init-toml.ts'

const read = (text: string) => JSON.parse(JSON.stringify(parseToml(text)))

test('parseToml() reads tables, keys, strings, lists, inline tables and plain values', () => {
  const text = `a = 1 # one
"b c".d = 'literal \\n'
e = "tab\\t\\"\\u00e9\\x41"
long = """
two
lines \\
   joined"""
[t.'u v']
list = [
  "x", # with a comment
  [1_000, -2.5],
]
inline = { k = true, n = { m = [] } }
when = 1979-05-27T07:32:00Z
[[many]]
lost = 1
[t.w]
x = false
`
  assert.deepEqual(read(text), {
    a: 1,
    'b c': { d: 'literal \\n' },
    e: 'tab\t"éA',
    long: 'two\nlines joined',
    t: {
      'u v': { list: ['x', [1000, -2.5]], inline: { k: true, n: { m: [] } }, when: '1979-05-27T07:32:00Z' },
      w: { x: false },
    },
  })
  assert.deepEqual(read(''), {})
  assert.deepEqual(read('a = 1\r\n[b]\r\nc = 2'), { a: 1, b: { c: 2 } })
})

test('parseToml() refuses what is no TOML, and takes every key for a key', () => {
  for (const text of [
    'a',
    'a =',
    'a = "x',
    'a = [1',
    'a = [1 2]',
    '[a',
    'a = 1 b = 2',
    'a = 1\n[a]\n',
    '= 1',
    'a = {b}',
  ])
    assert.throws(() => parseToml(text), Error, text)
  parseToml('[__proto__]\npolluted = 1\n[constructor.prototype]\npolluted = 1')
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
})
