/**
 * An S3 server that is killed in the middle of uploads: what was acknowledged is there, what was
 * not is a typed error, and the same client goes on when the server is back.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, type ArtifactId, newId, type S3Config } from '#model'
import { type ArtifactInput, type Artifacts, openArtifacts } from '#record'
import { openBucket } from '#record/artifacts'
import { freePort, temporaryFolder } from '#test'
import { makeBucket, minioConfig, minioProgram, whyNoMinio } from '#test/services'

const kills = process.env.LONG === '1' ? 20 : 5
const writers = 6
/** Small ones, and some that go in parts. */
const sizes = [10, 100_000, 1_000_000, 21_000_000]

type Server = { config: S3Config; kill(): Promise<void>; start(): Promise<void> }

async function openServer(t: TestContext): Promise<Server> {
  const folder = temporaryFolder(t, async () => kill())
  const [port, secret] = [await freePort(), randomBytes(12).toString('hex')]
  const config = { ...minioConfig(port, secret, 'fault'), maxBytes: 64_000_000 }
  const env = { MINIO_ROOT_USER: 'testkey', MINIO_ROOT_PASSWORD: secret, MINIO_UPDATE: 'off', MINIO_BROWSER: 'off' }
  const args = ['server', '--quiet', '--address', `127.0.0.1:${port}`, join(folder, 'data')]
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    child = spawn(minioProgram, args, { cwd: folder, env: { ...env, HOME: folder }, stdio: 'ignore' })
    for (let tries = 0; tries < 600; tries++) {
      const answer = await fetch(`${config.endpoint}/minio/health/ready`).catch(() => null)
      if (answer?.ok) return
      await sleep(50)
    }
    assert.fail('MinIO does not start')
  }

  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  return { config, start, kill }
}

function inputOf(id: ArtifactId, size: number): { bytes: Buffer; input: ArtifactInput } {
  const bytes = randomBytes(size)
  async function* content() {
    for (let i = 0; i < size; i += 1_000_000) yield bytes.subarray(i, i + 1_000_000)
  }
  const input = { id, owner: newId(), name: 'a.bin', type: 'text/plain', bytes: size, content: content() }
  return { bytes, input }
}

type Outcomes = { stored: Map<ArtifactId, string>; failed: ArtifactId[]; codes: Set<string> }

/** Stores until it is told to stop; what failed is not tried again. */
async function write(artifacts: Artifacts, outcomes: Outcomes, writer: number, isOver: () => boolean): Promise<void> {
  for (let i = writer; !isOver(); i++) {
    const id = newId<ArtifactId>()
    try {
      const { digest } = await artifacts.put(inputOf(id, sizes[i % sizes.length]!).input)
      outcomes.stored.set(id, digest)
    } catch (error) {
      assert.ok(error instanceof AppError, String(error))
      outcomes.codes.add(error.code)
      outcomes.failed.push(id)
      await sleep(20)
    }
  }
}

test(`acknowledged artifacts survive ${kills} times kill -9 of the S3 server, and all else is a typed error`, {
  skip: whyNoMinio(),
}, async (t) => {
  const server = await openServer(t)
  await server.start()
  await makeBucket(server.config)
  const artifacts = openArtifacts({ folder: temporaryFolder(t), s3: server.config })
  const outcomes: Outcomes = { stored: new Map(), failed: [], codes: new Set() }
  let isOver = false
  const writing = Array.from({ length: writers }, (_, i) => write(artifacts, outcomes, i, () => isOver))
  for (let round = 0; round < kills; round++) {
    await sleep(300 + 70 * (round % 7))
    await server.kill()
    await sleep(700)
    const before = outcomes.stored.size
    await server.start()
    // It goes on by itself.
    for (let tries = 0; outcomes.stored.size === before && tries < 600; tries++) await sleep(50)
    assert.ok(outcomes.stored.size > before, 'nothing was stored after the server came back')
  }
  isOver = true
  await Promise.all(writing)
  await checkStored(artifacts, outcomes)
  await checkParts(server.config, outcomes.failed)
  const { stored, failed, codes } = outcomes
  t.diagnostic(`${kills} kills: ${stored.size} stored, ${failed.length} failed with ${[...codes].join(', ')}`)
  assert.ok(failed.length > 0, 'no kill met an upload')
  for (const code of codes) assert.match(code, /^S3_(?:CONNECTION_ERROR|UPLOAD_FAILED)$/)
})

async function checkStored(artifacts: Artifacts, { stored, failed }: Outcomes): Promise<void> {
  for (const [id, digest] of stored) {
    const found = await artifacts.get(id)
    assert.equal(found?.digest, digest, `${id} was acknowledged and is gone`)
    for await (const _ of found.content);
  }
  // Stored without an answer, and whole; or not at all, and then its id is free.
  for (const id of failed) {
    const found = await artifacts.get(id)
    if (found !== null) for await (const _ of found.content);
    else await artifacts.put(inputOf(id, 1000).input)
  }
}

async function checkParts(config: S3Config, failed: readonly ArtifactId[]): Promise<void> {
  const bucket = await openBucket(config)
  for (const id of failed) {
    const query = { uploads: '', prefix: `artifacts/${id}/a.bin` }
    const { text } = await bucket.send({ method: 'GET', query })
    assert.ok(!text.includes('<UploadId>'), `${id} has parts that nobody will complete`)
  }
}
