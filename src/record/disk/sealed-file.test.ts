/** Tests of small sealed texts: who can read them, and that only one changes them at a time. */
import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { temporaryFolder } from '#test'
import { openSealedFile } from './sealed-file.ts'

test('openSealedFile() keeps a text that cannot be read from the disk, and not under another name', (t) => {
  const keys = join(temporaryFolder(t), 'keys')
  const file = openSealedFile(keys, 'one')
  assert.equal(file.read(), null)
  const none = file.version()
  file.write('very secret')
  const first = file.version()
  assert.notEqual(first, none)
  assert.equal(openSealedFile(keys, 'one').read(), 'very secret')
  const path = join(keys, 'one.sealed')
  assert(!readFileSync(path, 'latin1').includes('secret'))
  assert.equal(statSync(path).mode & 0o777, 0o600)
  copyFileSync(path, join(keys, 'two.sealed'))
  assert.throws(() => openSealedFile(keys, 'two').read(), { code: 'LEDGER_BROKEN' })
  file.remove()
  assert.equal(file.read(), null)
})

test('locked() lets one work at a time, also after one that failed, and a waiting one may leave', async (t) => {
  const keys = temporaryFolder(t)
  const signal = AbortSignal.timeout(10_000)
  let inside = 0
  let most = 0
  const work = async () => {
    most = Math.max(most, ++inside)
    await new Promise((resolve) => setTimeout(resolve, 5))
    inside--
    if (most === 1) throw new Error('failed')
  }
  const tries = [1, 2, 3, 4].map(() => openSealedFile(keys, 'one').locked(signal, work))
  assert.deepEqual(new Set((await Promise.allSettled(tries)).map(({ status }) => status)), new Set(['rejected']))
  assert.equal(most, 1)
  const { promise, resolve } = Promise.withResolvers<void>()
  const held = openSealedFile(keys, 'one').locked(signal, () => promise)
  const impatient = openSealedFile(keys, 'one').locked(AbortSignal.timeout(50), async () => {})
  await assert.rejects(impatient, { name: 'AbortError' })
  resolve()
  await held
})
