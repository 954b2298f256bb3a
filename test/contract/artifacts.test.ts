/**
 * Artifacts keep their contract in a directory and in a real S3 server; what a crash leaves of them
 * is never taken for one.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type ArtifactId, newId, sha256 } from '#model'
import { openArtifactFolder, openArtifacts } from '#record'
import { type Body, openBucket } from '#record/artifacts'
import { root, temporaryFolder } from '#test'
import { minioBucket, whyNoMinio } from '#test/services'
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

artifactsContract(
  'S3 (MinIO)',
  async (t) => {
    const s3 = { ...(await minioBucket('contract')), prefix: `some/${newId()}` }
    const bucket = await openBucket(s3)
    return {
      artifacts: openArtifacts({ folder: temporaryFolder(t), s3 }),
      async spoil(path, how) {
        const key = `${s3.prefix}/${path}`
        const { headers } = await bucket.send({ method: 'HEAD', key })
        const bytes = Buffer.concat(await Array.fromAsync(bucket.read(key)))
        bytes[bytes.length >> 1]! ^= 1
        const body = bodyOf(how === 'cut' ? bytes.subarray(1) : bytes)
        const metadata = Object.entries(headers).filter(([name]) => /^(?:content-type|x-amz-meta-.*)$/.test(name))
        await bucket.send({ method: 'PUT', key, headers: Object.fromEntries(metadata) as Record<string, string>, body })
      },
    }
  },
  { skip: whyNoMinio() },
)

test('list() of a directory goes by the time of storing, whatever the ids say', async (t) => {
  const artifacts = openArtifactFolder(temporaryFolder(t))
  const ids = [9, 5, 7].map((n) => `${n}0000000-0000-8000-8000-000000000000` as ArtifactId)
  for (const id of ids) {
    const content = Readable.from([Buffer.from('x')])
    await artifacts.put({ id, owner: newId(), name: 'a', type: 'text/plain', bytes: 1, content })
    await sleep(5)
  }
  assert.deepEqual(
    (await artifacts.list()).map(({ id }) => id),
    ids.toReversed(),
  )
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

test('several processes that store the same id store it once', async (t) => {
  const folder = temporaryFolder(t)
  const id = newId<ArtifactId>()
  const write = `
    import { openArtifactFolder } from '#record'
    const [folder, id, owner] = process.argv.slice(1)
    async function* content() { yield Buffer.alloc(100_000, 'x') }
    const input = { id, owner, name: 'a.txt', type: 'text/plain', bytes: 100_000, content: content() }
    console.log(JSON.stringify(await openArtifactFolder(folder).put(input)))`
  const args = ['--input-type=module-typescript', '-e', write, folder, id, newId()]
  const answers = await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, args, { cwd: root })))
  assert.equal(new Set(answers.map(({ stdout }) => stdout)).size, 1)
  assert.deepEqual(readdirSync(folder), [id], 'no draft is left')
})

function bodyOf(bytes: Buffer): Body {
  return { bytes: bytes.length, digest: sha256(bytes), open: () => Readable.from([bytes]) }
}
