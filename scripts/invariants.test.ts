/**
 * Tests of the check of docs/invariants.md: the page as it is passes, and each kind of lie in it is
 * seen.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { checkInvariants } from './invariants.ts'

function problemsOf(...rows: string[]): string[] {
  const root = mkdtempSync(join(tmpdir(), 'invariants-'))
  try {
    mkdirSync(join(root, 'docs'))
    writeFileSync(
      join(root, 'docs/invariants.md'),
      `# Page\n\n| # | always | shown by |\n| - | - | - |\n${rows.join('\n')}\n`,
    )
    writeFileSync(join(root, 'a.test.ts'), "test('a() holds', () => {})\ntest('b() isn\\'t', () => {})\n")
    return checkInvariants(root)
  } finally {
    rmSync(root, { recursive: true })
  }
}

test('checkInvariants() accepts our page', () => assert.deepEqual(checkInvariants(dirname(import.meta.dirname)), []))

test('checkInvariants() accepts tests that exist, and plans', () => {
  const named = '| 2  | b | `a.test.ts`, "a() holds", "b() isn\'t"; `a.test.ts` |'
  assert.deepEqual(problemsOf('| 1 | a | `a.test.ts` |', named, '| 3 | c | planned: `b.test.ts` |'), [])
})

test('checkInvariants() sees a gap, a missing file, a missing test and none at all', () => {
  const at = (text: string) => [`docs/invariants.md:5: invariant ${text}`]
  assert.deepEqual(problemsOf('| 2 | a | `a.test.ts` |'), at('2 stands where 1 should'))
  assert.deepEqual(problemsOf('| 1 | a | `c.test.ts` |'), at('1 names c.test.ts, which does not exist'))
  const missing = at('1 names a test that a.test.ts does not have: c() holds')
  assert.deepEqual(problemsOf('| 1 | a | `a.test.ts`, "c() holds" |'), missing)
  assert.deepEqual(problemsOf('| 1 | a |  |'), at('1 names no test'))
  assert.deepEqual(problemsOf(), ['docs/invariants.md:1: there is no invariant'])
})
