/** Tests of the classes of effects, pinned: records and configurations of others name them. */
import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type Effect,
  effectForms,
  effectKind,
  effectKinds,
  isEffect,
  isReadOnly,
  keyParameter,
  mayRepeat,
} from '#model'

const all: Effect[] = ['read', 'idempotent', 'keyed:id', 'unsafe']

test('effectKind() tells the class of an effect, with its parameter or without', () => {
  assert.deepEqual(effectKinds, ['read', 'idempotent', 'keyed', 'unsafe'])
  assert.deepEqual(effectForms, ['read', 'idempotent', 'keyed:PARAM', 'unsafe'])
  assert.deepEqual(all.map(effectKind), effectKinds)
  assert.equal(effectKind('keyed:a:b'), 'keyed')
})

test('mayRepeat() refuses the unsafe alone, and only a read changes nothing', () => {
  assert.deepEqual(all.map(mayRepeat), [true, true, true, false])
  assert.deepEqual(all.map(isReadOnly), [true, false, false, false])
})

test('keyParameter() names what takes the key', () => {
  assert.deepEqual(all.map(keyParameter), [null, null, 'id', null])
  assert.equal(keyParameter('keyed:a:b'), 'a:b')
})

test('isEffect() takes each class as it is written, and nothing else', () => {
  for (const effect of all) assert.equal(isEffect(effect), true, effect)
  for (const other of ['keyed', 'keyed:', 'read:x', 'harmless', 'toString', '', null, 1, ' read']) {
    assert.equal(isEffect(other), false, String(other))
  }
})
