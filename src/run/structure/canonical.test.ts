/** Programs that differ in wording have one shape; programs that do other things have not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepareProgram } from '#sandbox'
import { canonicalOf } from './canonical.ts'

const read = (code: string) => canonicalOf(prepareProgram(code).source)

const alike: [string, string, string][] = [
  ['names', `const a = f(1); return { a }`, `const found = f(1); return { a: found }`],
  ['keys in quotes', `return f({ 'key': 1 })`, `return f({ key: 1 })`],
  ['quotes', `return f('a', \`b\`)`, `return f("a", 'b')`],
  ['let and const', `const a = 1; return a`, `let a = 1;; return a;`],
  ['braces', `if (args.a) return 1; else return 2`, `if (args.a) { return 1 } else { return 2 }`],
  ['braces of loops', `for (const a of args) f(a)`, `for (const a of args) { f(a) }`],
  ['labels', `a: for (const x of args) { continue a }`, `b: for (const x of args) { continue b }`],
  ['types and comments', `const a: number = 1 // one\nreturn a!`, `const a = 1\n/* it */ return a`],
  ['members of mcp', `return mcp['fx']['add']({})`, `return mcp.fx.add({})`],
  ['members of cap', `return cap['add_up']({})`, `return cap.add_up({})`],
]

test('canonicalOf() is blind to wording', () => {
  for (const [what, one, other] of alike) {
    assert.equal(read(one).text, read(other).text, what)
    assert.equal(read(one).shape, read(other).shape, what)
  }
})

const unlike: [string, string, string][] = [
  ['tools by member', `return mcp['fx']['add']({})`, `return mcp['fx']['pay']({})`],
  ['tools by id', `return tool('fx:add', {})`, `return tool('fx:pay', {})`],
  ['capabilities', `return cap['add@1']({})`, `return cap['add@2']({})`],
  ['a member and a variable member', `return args.map.at`, `return args.map[at]`],
  ['var and let', `var a = 1; return a`, `let a = 1; return a`],
  ['what a label ends', `a: for (;;) { b: for (;;) { break a } }`, `a: for (;;) { b: for (;;) { break b } }`],
  ['keys', `return { a: 1 }`, `return { b: 1 }`],
  ['tagged templates', 'return String.raw`\\n`', 'return String.raw`\\t`'],
]

test('canonicalOf() tells apart what is done, and which tool does it', () => {
  for (const [what, one, other] of unlike) {
    assert.notEqual(read(one).text, read(other).text, what)
    assert.notEqual(read(one).shape, read(other).shape, what)
  }
})

test('canonicalOf() takes values for values, where they stand, and tools and keys for none', () => {
  const source = `tool('fx:put', { 'key': 'a', list: [\`b\`, -3], x: rows['c'] }, 'd')\nString.raw\`e\`\nmcp['fx'].read({})`
  const { source: text } = prepareProgram(source)
  const literals = canonicalOf(text).literals.map(({ value, start, end, key }) => [key, value, text.slice(start, end)])
  assert.deepEqual(literals, [
    ['key', 'a', `'a'`],
    ['list', 'b', '`b`'],
    ['list', -3, '-3'],
    ['x', 'c', `'c'`],
    [null, 'd', `'d'`],
  ])
  const { comments } = canonicalOf(prepareProgram('return 1 // one').source)
  assert.equal(comments.length, 1)
})
