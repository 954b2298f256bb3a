/** Tests of chance: every byte is handed out once, in any portions. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { randomBytesPooled } from '#model'

test('randomBytesPooled() gives as many bytes as were asked for, and never the same ones', () => {
  const seen = new Set<string>()
  for (let i = 0; i < 2000; i++) {
    const bytes = randomBytesPooled(16 + (i % 3) * 16)
    assert.equal(bytes.length, 16 + (i % 3) * 16)
    for (let at = 0; at < bytes.length; at += 16) seen.add(bytes.toString('hex', at, at + 16))
  }
  assert.equal(seen.size, 3999)
})

test('randomBytesPooled() hands out a copy: what becomes of it changes nothing', () => {
  const first = randomBytesPooled(32)
  first.fill(7)
  assert.notDeepEqual(randomBytesPooled(32), first)
})
