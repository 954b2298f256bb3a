/**
 * Rules with patterns for arguments: those that hold back see through another way of writing, those
 * that allow never do.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, limits } from '#model'
import { matchArguments } from './compare.ts'
import { decide } from './decide.ts'

const holds = (pattern: Json, value: unknown, then: 'deny' | 'ask' = 'deny', pointer = '/path') => {
  const question = { tool: 'fx:put', effect: 'read' as const, danger: null, args: { path: value } }
  return decide(question, 'privileged', [{ args: { [pointer]: pattern }, then }, { then: 'allow' }]).action === then
}
const allows = (pattern: Json, value: unknown) => {
  const question = { tool: 'fx:put', effect: 'unsafe' as const, danger: null, args: { path: value } }
  return decide(question, 'minimal', [{ args: { '/path': pattern }, then: 'allow' }]).action === 'allow'
}

/** Each value means, or may mean, what the pattern names. */
const sameElsewise: Record<string, [pattern: Json, value: unknown][]> = {
  'another way of writing a path': [
    ['/etc/*', '/etc//shadow'],
    ['/etc/*', '/etc/./shadow'],
    ['/etc/**', '//etc/shadow'],
    ['/etc/**', '/./etc/shadow'],
    ['/etc/**', '/././/etc/.//shadow'],
    ['/etc/**', '/etc'],
    ['/etc/shadow', '/etc/shadow/'],
    ['/etc/shadow', '/etc/shadow/.'],
    ['/etc/', '/etc'],
    ['/etc//**', '/etc/shadow'],
    ['**/.env', '.env'],
    ['secrets/*', './secrets/a'],
    ['/etc/**', '\\etc\\shadow'],
    ['C:/secrets/**', 'c:\\Secrets\\a'],
  ],
  'the case of letters': [
    ['/etc/**', '/ETC/shadow'],
    ['/Etc/**', '/etc/shadow'],
    ['DELETE', 'delete'],
    ['straße', 'STRASSE'],
  ],
  'an address of a file': [
    ['/etc/**', 'file:///etc/shadow'],
    ['/etc/**', 'FILE:///etc/shadow'],
    ['/etc/**', 'file:/etc/shadow'],
    ['/etc/**', 'file://localhost/etc/shadow'],
    ['/etc/shadow', 'file:///etc/shadow?x#y'],
    ['/etc/**', 'file:///%65tc/shadow'],
    ['file:///etc/**', '/etc/shadow'],
  ],
  'percent-encoding, also twice and more': [
    ['/etc/**', '/etc%2Fshadow'],
    ['/etc/**', '%2fetc%2fshadow'],
    ['/etc/**', '/%65%74%63/shadow'],
    ['/etc/**', '/etc%252Fshadow'],
    ['/etc/**', '/etc%25252fshadow'],
    ['/etc/**', '/%2565tc/shadow'],
    ['/etc/**', '/etc%c0%afshadow'],
    ['/etc/**', '/etc%u002fshadow'],
    ['/etc/**', '%5cetc%5cshadow'],
    ['/etc/a b', '/etc/a%20b'],
    ['/etc/a%20b', '/etc/a b'],
  ],
  'a way out of a folder': [
    ['/etc/**', '/tmp/x/../../etc/shadow'],
    ['/etc/**', '/tmp/%2e%2e/etc'],
    ['/etc/**', '/tmp/.%2e/etc'],
    ['/etc/**', '/tmp/%252e%252e/etc'],
    ['/etc/**', '/tmp/%c0%ae%c0%ae/etc'],
    ['/etc/**', '/tmp/\u2024\u2024/etc'],
    ['/etc/**', '/tmp/\u2025/etc'],
    ['/etc/**', '/tmp/\uff0e\uff0e/etc'],
    ['/etc/**', '/tmp/.\u200b./etc'],
    ['/etc/**', '/tmp/%EF%BC%8E%EF%BC%8E/etc'],
  ],
  'characters that look like others, or like nothing': [
    ['/etc/**', '\uff0fetc\uff0fshadow'],
    ['/etc/**', '\u2215etc\u2215shadow'],
    ['/etc/**', '/\u200betc/shadow'],
    ['/etc/**', '/\uff45tc/shadow'],
    ['caf\u00e9', 'cafe\u0301'],
    ['/etc/**', ' /etc/shadow'],
    ['/etc/**', '\n\t/etc/shadow '],
    ['/etc/shadow', '/etc/shadow\u0000'],
    ['/etc/shadow', '/etc/shadow\u0000.txt'],
    ['/etc/shadow', '/etc/shadow%00.txt'],
    ['/etc/shadow', '/etc/sha\u0000dow'],
    ['a', 'a\n'],
  ],
  'another kind of value': [
    ['1000', 1000],
    [1000, '1000'],
    [1000, '1e3'],
    ['1000', '1000.0'],
    [1000, ' 1000 '],
    [true, 'true'],
    ['true', true],
    [null, 'null'],
    ['10*', 1000],
  ],
  'what is inside of a value': [
    ['/etc/**', ['/etc/shadow']],
    ['/etc/**', ['/tmp/a', ['x', { deep: '//etc/shadow' }]]],
    ['/etc/**', { p: '/etc/shadow' }],
    ['/etc/**', { '/etc/shadow': 'content' }],
    [1000, [1, 1000]],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [{ a: 1 }, [{ a: '1' }]],
    [{ p: '/etc/shadow' }, { p: '//etc/shadow' }],
    [{ p: '/a' }, { p: '/b/../a' }],
    ['**', []],
  ],
  'an address of the network': [
    ['http://169.254.169.254/**', 'http://169.254.169.254'],
    ['http://169.254.169.254/**', 'HTTP://169.254.169.254/latest'],
    ['http://169.254.169.254/**', 'http://169.254.169.254:80/latest'],
    ['http://169.254.169.254:80/**', 'http://169.254.169.254/latest'],
    ['http://169.254.169.254/**', 'http://169.254.169.254./latest'],
    ['http://169.254.169.254/**', 'http://2852039166/latest'],
    ['http://169.254.169.254/**', 'http://0xa9fea9fe/latest'],
    ['http://169.254.169.254/**', 'http://0251.0376.0251.0376/latest'],
    ['http://169.254.169.254/**', 'http://169.254.43518/latest'],
    ['http://169.254.169.254/**', 'http://[::ffff:a9fe:a9fe]/latest'],
    ['http://169.254.169.254/**', 'http://[::ffff:169.254.169.254]/latest'],
    ['http://169.254.169.254/**', 'http://[64:ff9b::a9fe:a9fe]/latest'],
    ['http://169.254.169.254/**', 'http://user:word@169.254.169.254/latest'],
    ['http://169.254.169.254/**', 'http:\\\\169.254.169.254\\latest'],
    ['http://169.254.169.254/**', 'ht\ntp://169.254.169.254/latest'],
    ['http://169.254.169.254/**', 'http%3A%2F%2F169.254.169.254/latest'],
    ['http://169.254.169.254/**', 'http://169\u3002254\u3002169\u3002254/latest'],
    ['https://example.org/**', 'https://EXAMPLE.org.:443/x'],
    ['https://example.org/admin', 'https://example.org/admin?x=1#y'],
    ['https://example.org/admin', 'https://example.org/%61dmin'],
    ['169.254.169.254', '2852039166'],
    ['169.254.169.254', '::ffff:a9fe:a9fe'],
    ['169.254.169.254', '169.254.169.254:80'],
    ['169.254.*', '0xa9fea9fe'],
  ],
}

for (const [means, table] of Object.entries(sameElsewise)) {
  test(`matchArguments() of a rule that denies or asks sees through ${means}, and a rule that allows does not`, () => {
    for (const [pattern, value] of table) {
      const pair = JSON.stringify([pattern, value])
      assert.ok(holds(pattern, value, 'deny'), `${pair} is not denied`)
      assert.ok(holds(pattern, value, 'ask'), `${pair} is not asked about`)
      const isSameJson = typeof pattern === 'object' && pattern !== null && JSON.stringify(value) === '{"b":2,"a":1}'
      assert.equal(allows(pattern, value), isSameJson, `${pair} and a rule that allows`)
    }
  })
}

test('matchArguments() of a rule that denies or asks leaves alone what is certainly something else', () => {
  const table: [pattern: Json, value: unknown][] = [
    ['/etc/**', '/etcetera/x'],
    ['/etc/**', '/tmp/etc/shadow'],
    ['/etc/*', '/etc/ssl/key'],
    ['/etc/**', 'wait… for /tmp'],
    ['/etc/**', ''],
    ['/etc/**', [1, 'a', { b: null }]],
    ['/etc/**', '100%'],
    ['http://169.254.169.254/**', 'http://169.254.169.253/'],
    ['https://example.org/**', 'https://example.org.evil.net/'],
    ['https://example.org/**', 'https://evil.net/?https://example.org'],
    [1000, 1001],
    [1000, ''],
    [true, 'truth'],
    [{ a: 1 }, { a: 1, b: 2 }],
    [['a*c'], ['abc']],
    ['a.c', 'abc'],
  ]
  for (const [pattern, value] of table) assert.equal(holds(pattern, value), false, JSON.stringify([pattern, value]))
})

test('matchArguments() of a rule that denies or asks looks into the items of a list on the way of its pointer', () => {
  const files = { args: { '/files/path': '/etc/**' }, then: 'deny' as const }
  const match = (args: unknown, rule = files) => matchArguments(rule, args, { left: limits.policyStepsMax }) !== null
  assert.ok(match({ files: [{ path: '/tmp/a' }, { path: '/etc/shadow' }] }))
  assert.ok(match({ files: { path: '/etc/shadow' } }))
  assert.equal(match({ files: [{ path: '/tmp/a' }, { other: '/etc/shadow' }] }), false)
  assert.equal(match({ files: 'none' }), false)
  assert.equal(match({ files: [{ path: '/etc/a' }] }, { ...files, then: 'allow' as never }), false)
})

test('matchArguments() of a rule that allows needs every reading of the value to match', () => {
  const table: [pattern: string, value: string, isAllowed: boolean][] = [
    ['/tmp/**', '/tmp/a//b', true],
    ['/tmp/**', '/tmp/A%20b.txt', true],
    ['/Tmp/*', '/Tmp/a', true],
    ['/tmp/*', '/tmp/a%2Fb', false],
    ['/tmp/*', '/tmp/a\\b', false],
    ['/tmp/*.txt', '/tmp/evil.sh\0.txt', false],
    ['/tmp/*.txt', '/tmp/evil.sh%00.txt', false],
    ['/tmp/**', '/tmp/\uff0e\uff0e/etc', false],
    ['http://*.example.org/**', 'http://a.example.org/x?y=1#z', true],
    ['http://*.example.org/**', 'http://evil.net\\x.example.org/', false],
    ['http://*.example.org/**', 'http://evil.net?x.example.org/', false],
    ['http://*.example.org/**', 'http://evil.net#x.example.org/', false],
    ['http://example.org**', 'http://example.org@evil.net/', false],
    ['https://Example.org:443/**', 'https://Example.org:443/x', true],
    ['**', 'any\0thing at all', true],
    ['**', 'but not ..', false],
  ]
  for (const [pattern, value, isAllowed] of table) {
    assert.equal(allows(pattern, value), isAllowed, JSON.stringify([pattern, value]))
  }
})

test('matchArguments() lets a rule that holds back apply, and none that allows, where there is too much to compare', () => {
  const rule = (then: 'deny' | 'allow') => ({ args: { '/path': '**a**b**c' }, then })
  const long = { path: 'ab'.repeat(400) }
  assert.match(matchArguments(rule('deny'), long, { left: 500 })?.because ?? '', /too much to be compared/)
  assert.equal(matchArguments(rule('allow'), { path: 'abc' }, { left: 2 }), null)
  const many = { path: Array.from({ length: 200_000 }, () => 'x') }
  assert.match(matchArguments(rule('deny'), many, { left: limits.policyStepsMax })?.because ?? '', /too much/)
})

test('matchArguments() takes at most 2.5 times the steps for twice the text, whatever its patterns', () => {
  const stepsFor = (size: number) => {
    const work = { left: Number.MAX_SAFE_INTEGER }
    const args = { t: 'password'.repeat(size) + 'secret'.repeat(size) }
    matchArguments({ args: { '/t': '**password**secret**token**' }, then: 'deny' }, args, work)
    return Number.MAX_SAFE_INTEGER - work.left
  }
  const [once, twice] = [stepsFor(1500), stepsFor(3000)]
  assert.ok(twice <= once * 2.5, `${once} steps, then ${twice}`)
})

test('decide() says as what a value was read where a rule applies for that', () => {
  const rules = [{ args: { '/path': '/etc/**' }, then: 'deny' as const }]
  const because = (path: string) =>
    decide({ tool: 'a:b', effect: 'read', danger: null, args: { path } }, 'privileged', rules).because
  assert.match(because('//etc/x'), /rule 1 of the policy: .*, since its "\/path" reads as "\/etc\/x"$/)
  assert.match(because('/a/../b'), /since its "\/path" contains "\.\."$/)
  assert.doesNotMatch(because('/etc/x'), /since/)
})

/** Quadratic time would take most of an hour for one of these, linear time takes milliseconds. */
test('matchArguments() reads a value in linear time, whatever signs an agent repeats in it', {
  timeout: 60_000,
}, () => {
  const size = 1_000_000
  const parts = [
    '%',
    '%25',
    '%2525',
    '\\',
    '/',
    '/.',
    './',
    '.',
    ':',
    '1',
    ' ',
    '\0',
    '\u200b',
    '\uff0e',
    '*',
    'http:',
    '%c0',
  ]
  for (const part of parts) {
    for (const before of ['', 'http://', 'file:', '1:']) {
      const args = { path: before + part.repeat(size / part.length) }
      matchArguments({ args: { '/path': '/etc/**' }, then: 'deny' }, args, { left: limits.policyStepsMax })
    }
  }
})
