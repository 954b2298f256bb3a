/** Signatures, by the examples that AWS publishes for them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyDigest, signed, uriEncode } from './s3-signature.ts'

const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const now = new Date('2013-05-24T00:00:00Z')
const host = 'https://examplebucket.s3.amazonaws.com'

function signatureOf(path: string, headers: Record<string, string> = {}): string {
  const request = { method: 'GET', url: new URL(host + path), headers, digest: emptyDigest }
  return /Signature=(\w+)$/.exec(signed(request, keys, 'us-east-1', now).authorization!)![1]!
}

test('signed() gives the signatures of the examples', () => {
  const object = 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41'
  assert.equal(signatureOf('/test.txt', { range: 'bytes=0-9' }), object)
  const lifecycle = 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'
  assert.equal(signatureOf('/?lifecycle='), lifecycle)
  const list = '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'
  assert.equal(signatureOf('/?max-keys=2&prefix=J'), list)
})

test('uriEncode() leaves nothing but letters, digits and -._~', () => {
  assert.equal(uriEncode("a-b_c.d~e f/!'()*+é"), 'a-b_c.d~e%20f%2F%21%27%28%29%2A%2B%C3%A9')
})
