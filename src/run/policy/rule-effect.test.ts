/** What is said of a line at the answer that writes it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PermissionSet, PolicyRule } from '#model'
import { decide } from './decide.ts'
import { lineEffect } from './rule-effect.ts'

const unsafe = { tool: 'fx:add', effect: 'unsafe' as const }

/** Of a question that the given policy asks. */
function effectOf(rules: PolicyRule[], permissions: PermissionSet = 'standard', scope: 'run' | 'always' = 'always') {
  const { because: why } = decide({ ...unsafe, danger: null, args: { key: '/etc/x' } }, permissions, rules)
  return lineEffect({ ...unsafe, why }, scope, permissions, rules)
}

test('lineEffect() says that a line has no effect under a rule of the file about every call of the tool', () => {
  const { then, says } = effectOf([
    { tool: 'db:*', then: 'deny' },
    { tool: 'fx:*', then: 'ask' },
  ])
  assert.equal(then, 'ask')
  assert.equal(says, 'without effect: rule 2 of the file asks about every call of it and stands before this line')
  assert.equal(effectOf([{ tool: 'fx:*', then: 'ask' }], 'standard', 'run').then, 'ask')
  assert.equal(effectOf([{ effect: 'read', then: 'ask' }]).then, 'allow', 'that rule is about others')
})

test('lineEffect() names the rules that take precedence where their patterns match', () => {
  const args = { '/key': '/etc/**' }
  const { then, says } = effectOf([
    { tool: 'fx:add', args, then: 'ask' },
    { args, then: 'deny' },
  ])
  assert.equal(then, 'allow')
  const except = 'except where one of the rules 1, 2 of the file applies'
  const until = 'until the file\'s permissions are stricter than "standard"'
  assert.equal(says, `fx:add passes without a question in every run, ${except}, ${until}`)
  assert.match(
    effectOf([], 'standard', 'run').says,
    /^fx:add passes without a question for the rest of this run, until/,
  )
})

test('lineEffect() says that what asks whatever the policy says asks all the same', () => {
  const why = "it would send a secret of the run's arguments to fx"
  assert.deepEqual(lineEffect({ ...unsafe, why }, 'always', 'standard', []), {
    then: 'ask',
    says: `without effect on calls like this: ${why} asks whatever the policy says`,
  })
})
