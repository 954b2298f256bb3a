/** Sealing and the home's keys. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '#test'
import { isSigned, knownPublicKey, publicKeyOf, sealingKey, signingKey, signText } from './keys.ts'
import { openSealed, sealText } from './seal.ts'

test('openSealed() gives back what sealText() took, at the same place and with the same key only', () => {
  const key = randomBytes(32)
  const ciphertext = sealText('hunter2 é', 'here', key)
  assert.equal(openSealed(ciphertext, 'here', key), 'hunter2 é')
  assert.equal(Buffer.from(ciphertext).includes('hunter2'), false)
  assert.notDeepEqual(sealText('hunter2 é', 'here', key), ciphertext)
  assert.throws(() => openSealed(ciphertext, 'there', key), { code: 'LEDGER_BROKEN' })
  assert.throws(() => openSealed(ciphertext, 'here', randomBytes(32)), { code: 'LEDGER_BROKEN' })
  for (const i of ciphertext.keys()) {
    const changed = Uint8Array.from(ciphertext)
    changed[i]! ^= 1
    assert.throws(() => openSealed(changed, 'here', key), { code: 'LEDGER_BROKEN' })
  }
  assert.throws(() => openSealed(ciphertext.subarray(0, 20), 'here', key), { code: 'LEDGER_BROKEN' })
})

test("keys are made once, are their owner's only, and stay the same", (t) => {
  const folder = temporaryFolder(t)
  assert.equal(knownPublicKey(folder), null)
  const seal = sealingKey(folder)
  const sign = publicKeyOf(signingKey(folder))
  assert.equal(seal.length, 32)
  assert.deepEqual(sealingKey(folder), seal)
  assert.equal(publicKeyOf(signingKey(folder)), sign)
  assert.equal(knownPublicKey(folder), sign)
  assert.deepEqual(readdirSync(folder).sort(), ['seal.key', 'sign.pem'])
  for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
})

test('isSigned() accepts the text and key that signText() had, and throws at nothing', (t) => {
  const key = signingKey(temporaryFolder(t))
  const signature = signText('heads', key)
  assert.equal(isSigned('heads', signature, publicKeyOf(key)), true)
  assert.equal(isSigned('tails', signature, publicKeyOf(key)), false)
  assert.equal(isSigned('heads', signature.replace(/^./, 'x'), publicKeyOf(key)), false)
  assert.equal(isSigned('heads', signature, 'garbage'), false)
})
