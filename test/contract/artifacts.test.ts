/** Artifacts in a directory keep the contract, and what a crash leaves of them is never taken for one. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { newId } from '#model'
import { openArtifactFolder } from '#record'
import { temporaryFolder } from '#test'
import { artifactsContract } from './artifacts.ts'

artifactsContract('a directory', async (t) => {
  const folder = join(temporaryFolder(t), 'artifacts')
  mkdirSync(folder)
  return {
    artifacts: openArtifactFolder(folder),
    async spoil(path, how) {
      const file = join(dirname(folder), path)
      if (how === 'cut') return truncateSync(file, statSync(file).size - 1)
      const bytes = readFileSync(file)
      bytes[bytes.length >> 1]! ^= 1
      writeFileSync(file, bytes)
    },
  }
})

test('what a crash left half written is not there', async (t) => {
  const folder = temporaryFolder(t)
  const artifacts = openArtifactFolder(folder)
  const id = newId()
  mkdirSync(join(folder, `.${id}.new`))
  writeFileSync(join(folder, `.${id}.new`, 'a.txt'), 'half')
  mkdirSync(join(folder, newId()))
  assert.deepEqual(await artifacts.list(), [])
  assert.equal(await artifacts.get(id), null)
})

test("an artifact is its owner's only, and stands under its id", async (t) => {
  const folder = temporaryFolder(t)
  async function* content() {
    yield Buffer.from('x')
  }
  const input = { owner: newId(), name: 'a.txt', type: 'text/plain', bytes: 1, content: content() }
  const { id } = await openArtifactFolder(folder).put(input)
  assert.deepEqual(readdirSync(folder), [id])
  assert.deepEqual(readdirSync(join(folder, id)).sort(), ['.artifact.json', 'a.txt'])
  assert.equal(statSync(join(folder, id)).mode & 0o777, 0o700)
  assert.equal(statSync(join(folder, id, 'a.txt')).mode & 0o777, 0o600)
})
