/** Another system for boxes, as a folder or as an archive. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { chosenImage, openImage, rememberImage } from './image.ts'

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'metier-image-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * An archive of a root with a program that takes the rights of others, and one that only root may
 * read.
 */
function archiveIn(t: TestContext, folder: string): string {
  const root = temporary(t)
  for (const name of ['usr/bin', 'dev', 'etc']) mkdirSync(join(root, name), { recursive: true })
  for (const name of ['usr/bin/su', 'etc/private', 'dev/device']) writeFileSync(join(root, name), name)
  chmodSync(join(root, 'usr/bin/su'), 0o6755)
  chmodSync(join(root, 'etc/private'), 0o400)
  const archive = join(folder, 'root.tar.gz')
  execFileSync('tar', ['-czf', archive, '-C', root, '.'])
  return archive
}

test('openImage() unpacks an archive once: readable, without devices and without the rights of others', async (t) => {
  const folder = temporary(t)
  const archive = archiveIn(t, folder)
  const image = await openImage(folder, archive)
  const modeOf = (name: string) => statSync(join(image, name)).mode & 0o7777
  assert.deepEqual([modeOf('usr/bin/su'), modeOf('etc/private') & 0o444], [0o755, 0o444])
  assert.deepEqual(readdirSync(join(image, 'dev')), [])
  writeFileSync(join(image, 'kept'), '')
  assert.equal(await openImage(folder, archive), image)
  assert(existsSync(join(image, 'kept')))
})

test('openImage() takes a folder as it is, and refuses what is neither, leaving nothing behind', async (t) => {
  const folder = temporary(t)
  const other = temporary(t)
  assert.equal(await openImage(folder, other), other)
  writeFileSync(join(folder, 'text'), 'no archive')
  for (const source of ['/nonexistent', join(folder, 'text')]) {
    await assert.rejects(openImage(folder, source), { code: 'INVALID_INPUT_PARAM', message: /^Cannot use the image / })
  }
  assert.deepEqual(readdirSync(folder), ['text'])
})

test('rememberImage() keeps one choice, and throws away what was unpacked for another', async (t) => {
  const folder = temporary(t)
  assert.equal(chosenImage(folder), null)
  const image = await openImage(folder, archiveIn(t, folder))
  rememberImage(folder, image)
  assert.equal(chosenImage(folder), image)
  rememberImage(folder, null)
  assert.deepEqual([chosenImage(folder), existsSync(image)], [null, false])
  writeFileSync(join(folder, 'image.json'), '{"image"')
  assert.throws(() => chosenImage(folder), { code: 'SANDBOX_SETUP_FAILED' })
})
