/** Backup while others write: the copy is a home again. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { verify } from '#record/verify'
import { finishSample, keeper, openSample, temporaryFolder } from '#test'

test('backup() copies a living record, which verifies with the keys of its home', async (t) => {
  const folder = temporaryFolder(t)
  const store = await openSample(t)
  await finishSample(store, 1, 'x'.repeat(70_000))
  await store.checkpoint()
  const kept = readFileSync(join(store.home, 'checkpoints.jsonl'), 'utf8')
  const purged = await finishSample(store, 1, 'y'.repeat(70_000))
  writeFileSync(join(store.home, 'blobs', `${'0'.repeat(64)}.half`), 'still being written')
  const writing = Promise.all(Array.from({ length: 10 }, () => finishSample(store, 5)))
  const file = join(folder, 'copy.db')
  const saving = store.backup(file)
  await store.purge(purged, keeper)
  const [saved] = await Promise.all([saving, writing])
  assert.deepEqual([saved.file, saved.files], [file, `${file}.files`])
  assert.deepEqual(readdirSync(folder).sort(), ['copy.db', 'copy.db.files'], 'no log is left beside it')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(statSync(`${file}.files`).mode & 0o777, 0o700)
  assert.ok(readFileSync(join(`${file}.files`, 'checkpoints.jsonl'), 'utf8').startsWith(kept))
  assert.deepEqual(
    readdirSync(join(`${file}.files`, 'blobs')).filter((name) => name.includes('.')),
    [],
  )
  await assert.rejects(store.backup(file), /it exists already/)

  const home = join(folder, 'home')
  mkdirSync(home)
  renameSync(file, join(home, 'metier.db'))
  cpSync(`${file}.files`, home, { recursive: true })
  cpSync(join(store.home, 'keys'), join(home, 'keys'), { recursive: true })
  const verdict = await verify(home)
  assert.equal(verdict.ok, true, verdict.reason)
  assert.ok(verdict.events >= 8)
  const database = new DatabaseSync(join(home, 'metier.db'))
  assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' })
  database.close()
})

test('backup() of a record that does not verify is refused, and leaves nothing', async (t) => {
  const folder = temporaryFolder(t)
  const store = await openSample(t)
  await finishSample(store, 1, 'x'.repeat(70_000))
  const [blob] = readdirSync(join(store.home, 'blobs'))
  writeFileSync(join(store.home, 'blobs', blob!), 'something else')
  await assert.rejects(store.backup(join(folder, 'copy.db')), { code: 'LEDGER_BROKEN' })
  assert.deepEqual(readdirSync(folder), [])
})
