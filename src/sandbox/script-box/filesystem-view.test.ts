/** What a box sees of this machine: the system, and nothing that is ours. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { temporaryFolder } from '#test'
import { openView } from './filesystem-view.ts'

const skip = process.platform === 'linux' ? false : 'needs a Linux system to show'

test('openView() shows /usr alone, with what is beside the system left empty', { skip }, (t) => {
  const { binds, blanks, skeleton } = openView(temporaryFolder(t), null)
  assert.ok(binds.every(({ from, to, writable }) => from === to && !writable && /^\/(?:usr|s?bin|lib\w*)$/.test(to)))
  assert.ok(blanks.includes('/usr/local'))
  assert.deepEqual(
    readdirSync(join(skeleton, 'etc')).filter((name) => /shadow|ssh|machine-id/.test(name)),
    [],
  )
  assert.deepEqual(readdirSync(join(skeleton, 'inputs')), [])
})

test('openView() makes a skeleton once, readable for everybody whatever our mask is', { skip }, (t) => {
  const mask = process.umask(0o077)
  t.after(() => process.umask(mask))
  const folder = temporaryFolder(t)
  const { skeleton } = openView(folder, null)
  const made = statSync(skeleton).ino
  for (const name of readdirSync(skeleton, { recursive: true, withFileTypes: true })) {
    if (name.isSymbolicLink()) continue
    const mode = statSync(join(name.parentPath, name.name)).mode & 0o777
    assert.equal(mode, name.isDirectory() ? 0o755 : 0o644, join(name.parentPath, name.name))
  }
  assert.equal(statSync(openView(folder, null).skeleton).ino, made)
})

test('openView() shows all of an image but what is ours, and hides nothing in it', { skip }, (t) => {
  const image = temporaryFolder(t)
  for (const name of ['usr', 'etc', 'opt', 'tmp', 'dev', 'box', 'inputs']) mkdirSync(join(image, name))
  const { binds, blanks } = openView(temporaryFolder(t), image)
  assert.deepEqual(binds.map(({ to }) => to).sort(), ['/etc', '/opt', '/usr'])
  assert.deepEqual(blanks, [])
  for (const wrong of ['relative', join(image, 'etc'), '/nowhere']) {
    assert.throws(() => openView(temporaryFolder(t), wrong), { code: 'INVALID_INPUT_PARAM' })
  }
})
