/** What rules do not see through stands in the documentation as `policy explain` says it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { root } from '#test'
import { comparesArguments, notCovered } from './not-covered.ts'

test('notCovered: every item is a row of the table in docs/policy.md, and the table has no other', () => {
  const page = readFileSync(`${root}/docs/policy.md`, 'utf8')
  const [, table] = /\| not covered \|.*\n\|---\|---\|\n((?:\|.*\n)+)/.exec(page) ?? []
  const rows = table?.split('\n').flatMap((line) => (line === '' ? [] : [line.split('|')[1]!.trim()]))
  assert.deepEqual(rows, [...notCovered])
})

test('comparesArguments() is true where a rule that holds back has patterns', () => {
  const args = { '/path': '/etc/**' }
  assert.equal(comparesArguments([{ args, then: 'deny' }]), true)
  assert.equal(comparesArguments([{ args, then: 'allow' }, { args: {}, then: 'ask' }, { then: 'deny' }]), false)
})
