/**
 * A process that is killed while it stores artifacts, in a folder and in S3: what it was told is
 * stored is there, anything else is whole or not there, and storing it again succeeds.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ArtifactId, limits, newId, type S3Config } from '#model'
import { type ArtifactInput, type ArtifactsAddress, openArtifacts } from '#record'
import { openBucket } from '#record/artifacts'
import { temporaryFolder } from '#test'
import { minioBucket, whyNoMinio } from '#test/services'

const kills = process.env.LONG === '1' ? 20 : 5
const sizes = [10, 300_000, 3_000_000, limits.s3SinglePutBytesMax + 5_000_000]

/** The same content for the same id, whichever process stores it. */
function inputOf(id: ArtifactId, size: number): ArtifactInput {
  async function* content() {
    for (let from = 0; from < size; from += 65_536) yield Buffer.alloc(Math.min(65_536, size - from), id)
  }
  return { id, owner: id, name: 'a.bin', type: 'application/octet-stream', bytes: size, content: content() }
}

/** In the process that is killed: says what it begins and what is stored. */
async function store(address: ArtifactsAddress): Promise<void> {
  const artifacts = openArtifacts(address)
  const max = address.s3?.maxBytes ?? limits.artifactBytesMax
  const fitting = sizes.filter((size) => size <= max)
  const writer = async (first: number) => {
    for (let i = first; ; i++) {
      const id = newId<ArtifactId>()
      const size = fitting[i % fitting.length]!
      console.log(JSON.stringify({ id, size, isStored: false }))
      await artifacts.put(inputOf(id, size))
      console.log(JSON.stringify({ id, size, isStored: true }))
    }
  }
  await Promise.all([0, 1, 2, 3].map(writer))
}

type SeenArtifacts = { sizes: Map<ArtifactId, number>; stored: Set<ArtifactId> }

async function killOnce(address: ArtifactsAddress, afterMs: number, seen: SeenArtifacts): Promise<void> {
  const words = ['--disable-warning=ExperimentalWarning', import.meta.filename, JSON.stringify(address)]
  const child = spawn(process.execPath, words, {
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let isKilled = false
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, size, isStored } = JSON.parse(line) as { id: ArtifactId; size: number; isStored: boolean }
    seen.sizes.set(id, size)
    if (isStored) seen.stored.add(id)
    if (!isKilled) void sleep(afterMs).then(() => child.kill('SIGKILL'))
    isKilled = true
  }
  if (child.signalCode === null) await once(child, 'exit')
  assert.equal(child.signalCode, 'SIGKILL')
}

async function check(t: TestContext, address: ArtifactsAddress): Promise<SeenArtifacts> {
  const seen: SeenArtifacts = { sizes: new Map(), stored: new Set() }
  for (let round = 0; round < kills; round++) await killOnce(address, 30 + 90 * (round % 5), seen)
  const artifacts = openArtifacts(address)
  const listed = new Set((await artifacts.list()).map(({ id }) => id))
  for (const [id, size] of seen.sizes) {
    const found = await artifacts.get(id)
    if (seen.stored.has(id)) assert.ok(found, `${id} was acknowledged and is gone`)
    // Reading to the end compares length and digest.
    if (found) for await (const _ of found.content);
    assert.equal(listed.has(id), found !== null)
    assert.equal((await artifacts.put(inputOf(id, size))).bytes, size)
  }
  assert.equal((await artifacts.list()).length, seen.sizes.size)
  t.diagnostic(`${kills} kills: ${seen.stored.size} acknowledged of ${seen.sizes.size}, ${listed.size} there`)
  assert.ok(seen.stored.size < seen.sizes.size, 'no kill met an upload')
  return seen
}

if (process.argv[2]?.startsWith('{')) await store(JSON.parse(process.argv[2]))
else {
  test(`a process that is killed ${kills} times while it stores in a folder leaves no half of an artifact`, async (t) => {
    const folder = `${temporaryFolder(t)}/artifacts`
    mkdirSync(folder)
    await check(t, { folder })
    await openArtifacts({ folder }).removeUnfinished(new Date(Date.now() + 1000))
    assert.ok(readdirSync(folder).every((name) => !name.startsWith('.')))
  })

  test(`a process that is killed ${kills} times while it stores in S3 leaves no half of an artifact`, {
    skip: whyNoMinio(),
  }, async (t) => {
    const s3: S3Config = { ...(await minioBucket('fault')), prefix: `kill/${newId()}`, maxBytes: 64_000_000 }
    const folder = temporaryFolder(t)
    const { sizes } = await check(t, { folder, s3 })
    const waiting = readdirSync(folder).map((name) => statSync(join(folder, name)).size)
    assert.ok(
      waiting.every((bytes) => bytes === 0),
      'what waited for its digest is gone with its process',
    )
    await openArtifacts({ folder, s3 }).removeUnfinished(new Date(Date.now() + 1000))
    assert.deepEqual(readdirSync(folder), [])
    const bucket = await openBucket(s3)
    for (const id of sizes.keys()) {
      const key = `${s3.prefix}/artifacts/${id}/a.bin`
      const { text } = await bucket.send({ method: 'GET', query: { uploads: '', prefix: key } })
      const uploads = [...text.matchAll(/<UploadId>/g)].length
      if (uploads > 0) t.diagnostic(`${id} has parts of a killed process, which a sweep or the server ends after a day`)
    }
  })
}
