/** Tests of replaceFile(): what is there before and after, and what is left of a failure. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { replaceFile } from './replace-file.ts'

test('replaceFile() gives a file its new content and rights, and leaves nothing else behind', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'metier-replace-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'kept')
  writeFileSync(file, 'old and longer', { mode: 0o644 })
  replaceFile(file, 'new', { isDurable: true })
  assert.equal(readFileSync(file, 'utf8'), 'new')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  replaceFile(file, Buffer.from([1, 2]), { mode: 0o644 })
  assert.deepEqual([...readFileSync(file)], [1, 2])
  assert.equal(statSync(file).mode & 0o777, 0o644)
  assert.deepEqual(readdirSync(folder), ['kept'])
})

test('replaceFile() takes its draft away where the file cannot be replaced', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'metier-replace-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'taken'))
  assert.throws(() => replaceFile(join(folder, 'taken'), 'text'))
  assert.deepEqual(readdirSync(folder), ['taken'])
})
