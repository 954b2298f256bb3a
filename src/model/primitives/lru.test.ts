/** Tests of the LRU cache. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { LruCache } from '#model'

test('LruCache lets the entry give way that was used longest ago, by get() or set()', () => {
  const cache = new LruCache<string, number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  assert.equal(cache.get('a'), 1)
  cache.set('c', 3)
  assert.deepEqual([cache.has('a'), cache.has('b'), cache.has('c'), cache.size], [true, false, true, 2])
  cache.set('a', 4)
  cache.set('d', 5)
  assert.deepEqual([...cache.values()], [4, 5])
})

test('LruCache.has() is no use, and delete() makes room', () => {
  const cache = new LruCache<string, number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  cache.has('a')
  cache.set('c', 3)
  assert.equal(cache.get('a'), undefined)
  assert.deepEqual([cache.delete('b'), cache.delete('b'), cache.size], [true, false, 1])
})
