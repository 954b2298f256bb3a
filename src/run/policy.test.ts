/** Which line decides about a call. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Effect, PermissionSet, PolicyRule } from '#model'
import { decide, matchesPattern, narrower } from './policy.ts'

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
    const verdict = decide({ tool: 'fs:x', effect, args: {} }, permissions, [])
    assert.equal(verdict.then, then, `${permissions} ${effect}`)
    assert.match(verdict.because, new RegExp(permissions))
  }
})

test('decide() lets the first matching rule win and names it', () => {
  const rules: PolicyRule[] = [
    { tool: 'fs:*', effect: 'unsafe', args: { '/path': '/tmp/**' }, then: 'allow' },
    { tool: 'fs:delete', then: 'deny' },
    { tool: 'fs:*', then: 'ask' },
  ]
  const at = (path: string) => decide({ tool: 'fs:delete', effect: 'unsafe', args: { path } }, 'privileged', rules)
  assert.equal(at('/tmp/a/b').then, 'allow')
  assert.equal(at('/etc/passwd').then, 'deny')
  assert.match(at('/etc/passwd').because, /rule 2/)
  assert.equal(decide({ tool: 'fs:move', effect: 'unsafe', args: {} }, 'privileged', rules).then, 'ask')
  assert.equal(decide({ tool: 'db:drop', effect: 'unsafe', args: {} }, 'privileged', rules).then, 'allow')
})

test('decide() compares what is no string as JSON, and misses what is not there', () => {
  const rules: PolicyRule[] = [{ args: { '/n': 3, '/deep/list': [1, 2] }, then: 'deny' }]
  const ask = (args: unknown) => decide({ tool: 'a:b', effect: 'read', args }, 'standard', rules).then
  assert.equal(ask({ n: 3, deep: { list: [1, 2] } }), 'deny')
  assert.equal(ask({ n: '3', deep: { list: [1, 2] } }), 'allow')
  assert.equal(ask({ n: 3 }), 'allow')
  assert.equal(ask(null), 'allow')
})

test('matchesPattern() takes the whole value, stops * at a slash, and never leaves a folder', () => {
  const table: [pattern: string, value: string, matches: boolean][] = [
    ['fs:*', 'fs:read', true],
    ['fs:*', 'xfs:read', false],
    ['fs:*', 'fs:read/more', false],
    ['/tmp/*', '/tmp/a', true],
    ['/tmp/*', '/tmp/a/b', false],
    ['/tmp/**', '/tmp/a/b', true],
    ['/tmp/**', '/tmp/../etc/passwd', false],
    ['/tmp/**', '/tmp/a\n/b', true],
    ['a.c', 'abc', false],
    ['(', '(', true],
    ['**', '', true],
  ]
  for (const [pattern, value, matches] of table)
    assert.equal(matchesPattern(pattern, value), matches, `${pattern} ${value}`)
})

test('narrower() never widens', () => {
  assert.equal(narrower('privileged', 'standard'), 'standard')
  assert.equal(narrower('minimal', 'privileged'), 'minimal')
  assert.equal(narrower('standard', 'standard'), 'standard')
})
