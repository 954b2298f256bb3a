/** Which line decides about a call. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Effect, EffectOrigin, JsonObject, PermissionSet, PolicyRule } from '#model'
import { dangerOf } from './danger.ts'
import { decide, decideEarly, lineFor, narrower } from './decide.ts'

test('decide() follows the permission set where no rule matches', () => {
  const expected: [PermissionSet, Effect, string][] = [
    ['minimal', 'read', 'allow'],
    ['minimal', 'idempotent', 'deny'],
    ['minimal', 'keyed:id', 'deny'],
    ['minimal', 'unsafe', 'deny'],
    ['standard', 'read', 'allow'],
    ['standard', 'idempotent', 'allow'],
    ['standard', 'keyed:id', 'ask'],
    ['standard', 'unsafe', 'ask'],
    ['privileged', 'keyed:id', 'allow'],
    ['privileged', 'unsafe', 'allow'],
  ]
  for (const [permissions, effect, then] of expected) {
    const verdict = decide({ tool: 'fs:x', effect, danger: null, args: {} }, permissions, [])
    assert.equal(verdict.action, then, `${permissions} ${effect}`)
    assert.match(verdict.because, new RegExp(permissions))
  }
})

test('decide() lets the first matching rule win and names it', () => {
  const rules: PolicyRule[] = [
    { tool: 'fs:*', effect: 'unsafe', args: { '/path': '/tmp/**' }, then: 'allow' },
    { tool: 'fs:delete', then: 'deny' },
    { tool: 'fs:*', then: 'ask' },
  ]
  const at = (path: string) =>
    decide({ tool: 'fs:delete', effect: 'unsafe', danger: null, args: { path } }, 'privileged', rules)
  assert.equal(at('/tmp/a/b').action, 'allow')
  assert.equal(at('/etc/passwd').action, 'deny')
  assert.match(at('/etc/passwd').because, /rule 2/)
  assert.equal(decide({ tool: 'fs:move', effect: 'unsafe', danger: null, args: {} }, 'privileged', rules).action, 'ask')
  assert.equal(
    decide({ tool: 'db:drop', effect: 'unsafe', danger: null, args: {} }, 'privileged', rules).action,
    'allow',
  )
})

test('decide() compares what is no string as JSON, and misses what is not there', () => {
  const rules: PolicyRule[] = [{ args: { '/n': 3, '/deep/list': [1, 2] }, then: 'deny' }]
  const ask = (args: unknown) => decide({ tool: 'a:b', effect: 'read', danger: null, args }, 'standard', rules).action
  assert.equal(ask({ n: 3, deep: { list: [1, 2] } }), 'deny')
  assert.equal(ask({ n: '3', deep: { list: [1, 2] } }), 'deny', 'a server may take one for the other')
  assert.equal(ask({ n: 4, deep: { list: [1, 2] } }), 'allow')
  assert.equal(ask({ n: 3 }), 'allow')
  assert.equal(ask(null), 'allow')
})

const call = (args: unknown, tool = 'fs:read', effect: Effect = 'read') => ({ tool, effect, danger: null, args })

test('decide() takes the whole value of an argument, stops * at a slash, and never leaves a folder', () => {
  const table: [pattern: string, value: string, matches: boolean][] = [
    ['/tmp/*', '/tmp/a', true],
    ['/tmp/*', '/tmp/a/b', false],
    ['/tmp/**', '/tmp/a/b', true],
    ['/tmp/**', '/tmp/../etc/passwd', false],
    ['/tmp/**', '/tmp/%2e%2E/etc/passwd', false],
    ['/tmp/**', '/tmp/.%2e/etc/passwd', false],
    ['/tmp/**', '/tmp/%252e%252e/etc/passwd', false],
    ['/tmp/**', '/tmp/a\n/b', true],
    ['a.c', 'abc', false],
    ['(', '(', true],
    ['**', '', true],
  ]
  for (const [pattern, value, matches] of table) {
    const { action } = decide(call({ path: value }), 'minimal', [
      { args: { '/path': pattern }, then: 'allow' },
      { then: 'deny' },
    ])
    assert.equal(action === 'allow', matches, `${pattern} ${value}`)
  }
})

test('decide() lets nothing dodge a rule that holds back: not with .., not by the name of a tool', () => {
  const at = (value: string, then: 'deny' | 'ask') =>
    decide(call({ path: value }), 'privileged', [
      { tool: 'fs:*', args: { '/path': '/etc/**' }, then },
      { then: 'allow' },
    ]).action
  for (const then of ['deny', 'ask'] as const) {
    assert.equal(at('/etc/passwd', then), then)
    assert.equal(at('/tmp/../etc/passwd', then), then, 'it leads there')
    assert.equal(at('/tmp/../var', then), then, 'it might lead there')
    assert.equal(at('/tmp/%2e%2e/etc', then), then)
    assert.equal(at('/tmp/file.txt', then), 'allow')
    for (const tool of ['fs:read', 'fs:a/b', 'fs:a..b', 'fs:../x']) {
      assert.equal(decide(call({}, tool), 'privileged', [{ tool: 'fs:*', then }]).action, then, tool)
    }
    assert.equal(decide(call({}, 'xfs:read'), 'privileged', [{ tool: 'fs:*', then }]).action, 'allow')
  }
  assert.equal(decide(call({}, 'fs:a/b', 'unsafe'), 'standard', [{ tool: 'fs:*', then: 'allow' }]).action, 'ask')
})

test('decide() asks about what is dangerous in every set but privileged, unless a rule decides', () => {
  const danger = 'it says that it destroys'
  const at = (permissions: PermissionSet, rules: PolicyRule[] = []) =>
    decide({ tool: 'a:b', effect: 'idempotent', danger, args: {} }, permissions, rules)
  assert.match(at('standard').because, /dangerous: it says that it destroys/)
  assert.deepEqual([at('standard').action, at('minimal').action, at('privileged').action], ['ask', 'deny', 'allow'])
  assert.equal(at('standard', [{ tool: 'a:b', then: 'allow' }]).action, 'allow')
})

test('decideEarly() says what is certain before the arguments are known', () => {
  const rules: PolicyRule[] = [
    { tool: 'a:*', args: { '/n': 1 }, then: 'allow' },
    { tool: 'b:*', then: 'deny' },
  ]
  const early = (tool: string) => decideEarly({ tool, effect: 'read', danger: null }, 'standard', rules)?.action ?? null
  assert.deepEqual([early('a:x'), early('b:x'), early('c:x')], [null, 'deny', 'allow'])
})

test('dangerOf() believes a hint, the absence of one, and the name, but first the configuration', () => {
  const tool = (name: string, annotations: JsonObject, effect: Effect, effectFrom: EffectOrigin = 'annotations') =>
    dangerOf({ name, annotations, effect, effectFrom })
  const safe = { destructiveHint: false }
  const dangerous = [
    tool('write', {}, 'idempotent'),
    tool('write', { destructiveHint: true }, 'idempotent', 'configuration'),
    ...['shell', 'run_command', 'deleteFile', 'git_reset', 'git.push', 'fs/rm', 'pay'].map((name) =>
      tool(name, safe, 'idempotent'),
    ),
    ...['RunCommand', 'HTTPDelete', 'DELETE_FILE', 'delete2', 'aDropB', 'del-file', 'ssh_exec', 'transfer_funds'].map(
      (name) => tool(name, safe, 'idempotent'),
    ),
    tool('exec', { readOnlyHint: true }, 'read'),
  ]
  const harmless = [
    tool('write', safe, 'idempotent'),
    tool('write', {}, 'idempotent', 'configuration'),
    tool('exec', {}, 'read', 'configuration'),
    tool('list', { readOnlyHint: true }, 'read'),
    ...['payload', 'list_deleted', 'pushed', 'shellfish', 'reseth'].map((name) => tool(name, safe, 'idempotent')),
  ]
  assert.ok(
    dangerous.every((danger) => danger !== null),
    JSON.stringify(dangerous),
  )
  assert.ok(
    harmless.every((danger) => danger === null),
    JSON.stringify(harmless),
  )
})

test('lineFor() writes a line for one tool, and none for a name that would mean others too', () => {
  assert.deepEqual(lineFor('fs:read'), { tool: 'fs:read', then: 'allow' })
  for (const tool of ['fs:*', 'fs:**', 'fs:read*']) {
    assert.throws(() => lineFor(tool), { code: 'INVALID_INPUT_PARAM' }, tool)
  }
})

test('narrower() never widens', () => {
  assert.equal(narrower('privileged', 'standard'), 'standard')
  assert.equal(narrower('minimal', 'privileged'), 'minimal')
  assert.equal(narrower('standard', 'standard'), 'standard')
})
