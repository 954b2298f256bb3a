/** Tests of which keys of a program count, and which are replaced. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '#model'
import { isEmptyKey, withKey } from './idempotency-key.ts'

const empty: Json[] = [
  ...[null, '', ' ', '\t\n\r\u00a0', '\u2003\u3000', '\u200b\u200d\u2060\ufeff', '\u00ad', '\u0000', '\u3164\u115f'],
  ...['\u2800', '\ufe0f', '\u{e0020}', 0, -0, false, {}, [], [''], [null, 0], { a: ' ', b: [{}] }],
]

test('isEmptyKey() knows every value that a server would take for no key', () => {
  for (const value of empty) assert.equal(isEmptyKey(value), true, JSON.stringify(value))
  for (const value of ['k', ' k ', '0', 'null', '-', '\u200bk', '🔑', 1, -1, 0.5, true, ['k'], { a: { b: 1 } }]) {
    assert.equal(isEmptyKey(value), false, JSON.stringify(value))
  }
})

test('withKey() leaves a key that the program gave, and replaces an empty or missing one', () => {
  assert.deepEqual(withKey({ amount: 5, idem: 'mine' }, 'idem', 'ours'), { amount: 5, idem: 'mine' })
  for (const idem of empty) assert.deepEqual(withKey({ amount: 5, idem }, 'idem', 'ours'), { amount: 5, idem: 'ours' })
  assert.deepEqual(withKey({ amount: 5 }, 'idem', 'ours'), { amount: 5, idem: 'ours' })
  for (const args of [null, 'x', 5, ['x']]) assert.deepEqual(withKey(args, 'idem', 'ours'), args)
})

test('withKey() takes nothing that every object inherits for a key', () => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    const sent = withKey({ amount: 5 }, name, 'ours')
    assert.equal(JSON.stringify(sent), `{"amount":5,"${name}":"ours"}`)
  }
})
