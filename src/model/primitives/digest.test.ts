/** Tests of the digest by the examples of FIPS 180-4. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { sha256, sha256Bytes } from '#model'

const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'

test('sha256() is the digest of a text in UTF-8, or of bytes, in hexadecimal', () => {
  assert.equal(sha256('abc'), abc)
  assert.equal(sha256(Buffer.from('abc')), abc)
  assert.equal(sha256('é'), sha256(Buffer.from([0xc3, 0xa9])))
  assert.equal(sha256(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})

test('sha256Bytes() is the same digest as its 32 bytes', () => {
  assert.equal(sha256Bytes('abc').toString('hex'), abc)
})
