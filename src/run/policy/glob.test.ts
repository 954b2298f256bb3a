/**
 * Globs: the same verdict as a regular expression, in a number of steps that grows with the value
 * alone.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLike } from './glob.ts'

const steps = (pattern: string, value: string) => {
  const work = { left: Number.MAX_SAFE_INTEGER }
  const verdict = isLike(pattern, value, work)
  return { verdict, steps: Number.MAX_SAFE_INTEGER - work.left }
}

test('isLike() takes at most 2.5 times the steps for twice the value, however many ** the pattern has', () => {
  const hostile: [pattern: string, value: (size: number) => string][] = [
    ['**password**secret**token**', (size) => 'password'.repeat(size) + 'secret'.repeat(size)],
    ['**a**a**a**a**a**a**b', (size) => 'a'.repeat(size * 8)],
    ['*a*a*a*a*a*a*b', (size) => 'a'.repeat(size * 8)],
    ['**/*a*/**/*b*/**c', (size) => '/a/b'.repeat(size * 2)],
  ]
  for (const [pattern, value] of hostile) {
    const [once, twice] = [steps(pattern, value(1500)), steps(pattern, value(3000))]
    assert.equal(once.verdict, false, pattern)
    assert.ok(twice.steps <= once.steps * 2.5, `${pattern}: ${once.steps} steps, then ${twice.steps}`)
    assert.ok(once.steps <= value(1500).length * pattern.length, `${pattern}: ${once.steps} steps`)
  }
})

test('isLike() agrees with a regular expression on random patterns and values', () => {
  let seed = 7
  const chance = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  const draw = (alphabet: string[], length: number) => Array.from({ length }, () => alphabet[chance(alphabet.length)])
  for (let round = 0; round < 20_000; round++) {
    const pattern = draw(['a', 'b', '/', '*', '**', '.'], chance(7)).join('')
    const value = draw(['a', 'b', '/', '.', '*', '\n'], chance(8)).join('')
    const expression = new RegExp(`^${pattern.split(/(\*+)/).map(sourceOf).join('')}$`)
    assert.equal(steps(pattern, value).verdict, expression.test(value), JSON.stringify([pattern, value]))
  }
})

const sourceOf = (part: string) =>
  part === '*' ? '[^/]*' : /^\*+$/.test(part) ? '[\\s\\S]*' : part === '' ? '' : RegExp.escape(part)

test('isLike() says that it does not know where the work is used up', () => {
  assert.equal(isLike('**b**', 'a'.repeat(1000), { left: 500 }), null)
  assert.equal(isLike('**', 'a'.repeat(1000), { left: 0 }), true, 'this needs no look')
})
