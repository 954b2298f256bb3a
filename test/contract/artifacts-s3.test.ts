/** What only artifacts in S3 can do wrong, on a real server: parts, keys, errors of the network. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { type ArtifactId, limits, newId, type S3Config } from '#model'
import { openArtifacts } from '#record'
import { openBucket } from '#record/artifacts'
import { temporaryFolder } from '#test'
import { minioBucket, whyNoMinio } from '#test/services'
import { collect, input } from './artifacts.ts'

const mega = 1024 * 1024

async function open(t: TestContext, changes: Partial<S3Config> = {}) {
  const s3 = { ...(await minioBucket('contract')), prefix: `s3/${newId()}`, ...changes }
  return { s3, artifacts: openArtifacts({ folder: temporaryFolder(t), s3 }) }
}

/** Uploads in parts that are neither complete nor aborted; MinIO lists those of one key. */
async function openUploads(s3: S3Config, key: string): Promise<number> {
  const { text } = await (await openBucket(s3)).send({ method: 'GET', query: { uploads: '', prefix: key } })
  return [...text.matchAll(/<UploadId>/g)].length
}

describe('artifacts in S3', { skip: whyNoMinio() }, () => {
  test('what is larger than one request goes in parts, and comes back whole', async (t) => {
    const { s3, artifacts } = await open(t, { maxBytes: 64 * mega })
    const bytes = randomBytes(limits.s3SinglePutBytesMax + 12_345)
    const id = newId<ArtifactId>()
    const stored = await artifacts.put(input({ id, name: 'large.bin' }, bytes, 100_000))
    assert.deepEqual(await collect((await artifacts.get(stored.path))!.content), bytes)
    assert.deepEqual(await artifacts.put(input({ id, name: 'large.bin' }, bytes, 100_000)), stored)
    const rival = newId<ArtifactId>()
    const rivals = [0, 1, 2].map((first) => {
      const changed = Buffer.from(bytes)
      changed[0] = first
      return artifacts.put(input({ id: rival, name: 'large.bin' }, changed, 1_000_000))
    })
    const settled = await Promise.allSettled(rivals)
    assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const key of [`${s3.prefix}/${stored.path}`, `${s3.prefix}/artifacts/${rival}/large.bin`])
      assert.equal(await openUploads(s3, key), 0)
  })

  test('an upload in parts that is cancelled leaves no parts', async (t) => {
    const { s3, artifacts } = await open(t, { maxBytes: 64 * mega })
    const id = newId<ArtifactId>()
    const key = `${s3.prefix}/artifacts/${id}/a.txt`
    const stop = new AbortController()
    const put = artifacts.put(input({ id, signal: stop.signal }, randomBytes(50 * mega), mega))
    const cancelled = assert.rejects(put, { code: 'CANCELLED' })
    while ((await openUploads(s3, key)) === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    stop.abort()
    await cancelled
    assert.equal(await openUploads(s3, key), 0)
    assert.equal(await artifacts.get(id), null)
  })

  test('the limit is that of the configuration', async (t) => {
    const { artifacts } = await open(t, { maxBytes: 4 })
    await assert.rejects(artifacts.put(input()), { code: 'S3_SIZE_LIMIT_EXCEEDED', fate: 'correct' })
    assert.equal((await artifacts.put(input({}, Buffer.from('1234')))).bytes, 4)
  })

  test('a bucket without a prefix, and one whose other objects are no artifacts', async (t) => {
    const { s3, artifacts } = await open(t, { prefix: '' })
    const { id, path } = await artifacts.put(input())
    assert.equal((await artifacts.get(path))!.id, id)
    const bucket = await openBucket(s3)
    const stranger = newId<ArtifactId>()
    for (const key of ['artifacts/x', 'artifacts/x/y', `artifacts/${stranger}/hand.txt`, `artifacts/${id}/a/b`])
      await bucket.send({ method: 'PUT', key })
    assert.equal(await artifacts.get(stranger), null)
    assert.equal((await artifacts.get(id))!.name, 'a.txt')
    assert.ok((await artifacts.list()).every((card) => card.id !== stranger))
  })

  test('wrong keys are S3_ACCESS_DENIED for every request, and the secret is in no message', async (t) => {
    const secretAccessKey = 'not the secret of it'
    for (const accessKeyId of ['testkey', 'nobody']) {
      const { artifacts } = await open(t, { credentials: { accessKeyId, secretAccessKey } })
      for (const doing of every(artifacts))
        await assert.rejects(doing, (error: Error & { code: string; fate: string }) => {
          assert.deepEqual([error.code, error.fate], ['S3_ACCESS_DENIED', 'give_up'], String(error))
          return !String(error).includes(secretAccessKey)
        })
    }
  })

  test('keys that the agent of a container hands out are good for all of it', async (t) => {
    const { s3 } = await open(t)
    const { accessKeyId, secretAccessKey } = s3.credentials as Extract<S3Config['credentials'], { accessKeyId: string }>
    const until = new Date(Date.now() + 3_600_000).toISOString()
    let asked = 0
    const agent = createHttpServer((_, response) => {
      asked++
      response.end(JSON.stringify({ AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Expiration: until }))
    })
    const port = await new Promise<number>((resolve) => {
      agent.listen(0, '127.0.0.1', () => resolve((agent.address() as AddressInfo).port))
    })
    t.after(() => agent.close())
    const files = { credentials: '/nowhere', config: '/nowhere' }
    const container = { url: `http://127.0.0.1:${port}/`, token: null, tokenFile: null }
    const credentials = { files, profile: 'default', webIdentity: null, container, metadata: null }
    const artifacts = openArtifacts({ folder: temporaryFolder(t), s3: { ...s3, credentials } })
    const bytes = randomBytes(1000)
    const { path } = await artifacts.put(input({}, bytes))
    assert.deepEqual(await collect((await artifacts.get(path))!.content), bytes)
    assert.equal(asked, 1, 'they are kept until they end')
  })

  test('a bucket that is not there is told as such', async (t) => {
    const { artifacts } = await open(t, { bucket: 'nobodys-bucket' })
    const missing = { code: 'S3_CONNECTION_ERROR', message: /bucket/i }
    for (const doing of every(artifacts)) await assert.rejects(doing, missing)
  })

  test('an artifact that is gone when it is read is S3_ARTIFACT_NOT_FOUND', async (t) => {
    const { s3, artifacts } = await open(t)
    const { id, path } = await artifacts.put(input())
    const { content } = (await artifacts.get(id))!
    await (await openBucket(s3)).send({ method: 'DELETE', key: `${s3.prefix}/${path}` })
    await assert.rejects(collect(content), { code: 'S3_ARTIFACT_NOT_FOUND' })
  })

  test('reading can be cancelled, and left before its end', async (t) => {
    const { artifacts } = await open(t)
    const { id } = await artifacts.put(input({}, randomBytes(10 * mega), mega))
    const stop = new AbortController()
    const { content } = (await artifacts.get(id, stop.signal))!
    const reading = async () => {
      for await (const _ of content) stop.abort()
    }
    await assert.rejects(reading(), { code: 'CANCELLED' })
    for await (const _ of (await artifacts.get(id))!.content) break
    assert.equal((await collect((await artifacts.get(id))!.content)).length, 10 * mega)
    for (const doing of [artifacts.get(id, AbortSignal.abort()), artifacts.list(AbortSignal.abort())])
      await assert.rejects(doing, { code: 'CANCELLED' })
  })

  test('a connection that is cut is mended, or S3_CONNECTION_ERROR', async (t) => {
    const { s3 } = await open(t)
    const gate = await openGate(t, s3)
    const artifacts = openArtifacts({ folder: temporaryFolder(t), s3: { ...s3, endpoint: gate.endpoint } })
    const bytes = randomBytes(3 * mega)
    gate.cuts = 1
    const { id } = await artifacts.put(input({}, bytes, mega))
    gate.cuts = 2
    const { content } = (await artifacts.get(id))!
    assert.deepEqual(await collect(content), bytes)
    gate.cuts = Number.POSITIVE_INFINITY
    for (const doing of every(artifacts)) await assert.rejects(doing, { code: 'S3_CONNECTION_ERROR', fate: 'retry' })
  })
})

function nobodyAt(t: TestContext, port: number) {
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  const place = { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', bucket: 'bucket', prefix: '' }
  const s3 = { ...place, forcePathStyle: true, credentials, maxBytes: mega }
  return openArtifacts({ folder: temporaryFolder(t), s3 })
}

test('a server that is not there is S3_CONNECTION_ERROR, soon', async (t) => {
  const artifacts = nobodyAt(t, 1)
  for (const doing of every(artifacts)) await assert.rejects(doing, { code: 'S3_CONNECTION_ERROR', fate: 'retry' })
  // What is no address of an artifact is refused before anything is sent.
  const id = newId()
  for (const path of [
    '../x',
    `/artifacts/${id}/a`,
    `artifacts/${id}/../a`,
    `other/artifacts/${id}/a`,
    `artifacts/${id}/`,
  ])
    await assert.rejects(artifacts.get(path), { code: 'INVALID_INPUT_PARAM' }, path)
})

/** One request of each kind. */
function every(artifacts: ReturnType<typeof openArtifacts>): Promise<unknown>[] {
  const id = newId<ArtifactId>()
  const path = `artifacts/${id}/a.txt`
  const all = [artifacts.put(input()), artifacts.put(input({ id })), artifacts.get(id), artifacts.get(path)]
  return [...all, artifacts.list()].map((doing) => {
    doing.catch(() => {})
    return doing
  })
}

/** A way to the server that cuts as many connections as it is told, when something was sent. */
async function openGate(t: TestContext, { endpoint }: S3Config): Promise<{ endpoint: string; cuts: number }> {
  const { port } = new URL(endpoint)
  const server = createServer((client) => {
    client.on('error', () => {})
    const upstream = connect(Number(port), '127.0.0.1').on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
    client.on('data', (piece) => {
      if (gate.cuts-- > 0) client.destroy()
      else upstream.write(piece)
    })
    upstream.pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const gate = { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cuts: 0 }
  return gate
}
