/** Tests of JSON Pointer by the table of RFC 6901. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { atPointer, escapePointerKey, pointerKeys, pointerOf, unescapePointerKey } from '#model'

const document = JSON.parse(
  '{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\\\j":5,"k\\"l":6," ":7,"m~n":8}',
) as unknown

test('atPointer() answers the table of RFC 6901', () => {
  const table: [string, unknown][] = [
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ]
  for (const [pointer, value] of table) assert.deepEqual(atPointer(document, pointer), value, pointer)
})

test('atPointer() undoes ~1 before ~0, so that ~01 is ~1', () => {
  assert.equal(atPointer({ '~1': 'tilde', '/': 'slash' }, '/~01'), 'tilde')
})

test('atPointer() is undefined where there is nothing', () => {
  const nothing = [
    'foo',
    '/nope',
    '/foo/2',
    '/foo/-',
    '/foo/01',
    '/foo/-1',
    '/foo/1.0',
    '/foo/length',
    '/foo/0/0',
    '/foo/',
    '//',
  ]
  for (const pointer of nothing) assert.equal(atPointer(document, pointer), undefined, pointer)
  for (const value of [null, 'text', 7]) assert.equal(atPointer(value, '/0'), undefined)
})

test('atPointer() does not see what objects inherit', () => {
  for (const pointer of ['/toString', '/__proto__', '/constructor/name'])
    assert.equal(atPointer({}, pointer), undefined)
  assert.equal(atPointer(JSON.parse('{"__proto__":{"a":1}}'), '/__proto__/a'), 1)
})

test('escapePointerKey() and unescapePointerKey() undo each other, whatever the key', () => {
  for (const key of ['', 'a', '/', '~', '~0', '~1', '~01', '~/~', 'a/b~c'])
    assert.equal(unescapePointerKey(escapePointerKey(key)), key)
  assert.equal(escapePointerKey('~/'), '~0~1')
})

test('pointerOf() and pointerKeys() undo each other; what does not begin with a slash is no pointer', () => {
  for (const keys of [[], [''], ['a', '0'], ['a/b', '~1', '']]) assert.deepEqual(pointerKeys(pointerOf(keys)), keys)
  assert.equal(pointerOf(['items', '0', 'a/b']), '/items/0/a~1b')
  assert.equal(pointerKeys('items'), null)
})
