/** What every store of artifacts must do, whatever its driver. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { type ArtifactId, limits, newId, type RunId } from '#model'
import type { ArtifactInput, Artifacts } from '#record'

export type ArtifactsUnderTest = {
  artifacts: Artifacts
  /** Changes one byte of what is stored, or cuts the last one off, behind the driver's back. */
  spoil(path: string, how: 'change' | 'cut'): Promise<void>
}

export function artifactsContract(
  name: string,
  open: (t: TestContext) => Promise<ArtifactsUnderTest>,
  { skip = false }: { skip?: string | false } = {},
): void {
  describe(`artifacts: ${name}`, { skip }, () => {
    test('put() and get() give the same bytes back, by id and by path', async (t) => {
      const { artifacts } = await open(t)
      for (const size of [0, 1, 65_536, 3_000_001]) {
        const bytes = randomBytes(size)
        const stored = await artifacts.put(input({ name: 'data.bin' }, bytes, 10_000))
        assert.equal(stored.path, `artifacts/${stored.id}/data.bin`)
        assert.equal(stored.digest, createHash('sha256').update(bytes).digest('hex'))
        for (const address of [stored.id, stored.path, stored.id.toUpperCase()]) {
          const found = (await artifacts.get(address))!
          const { content, ...card } = found
          assert.deepEqual(card, stored)
          assert.deepEqual(await collect(content), bytes)
        }
      }
    })

    test('put() keeps owner and type, and list() has the newest first', async (t) => {
      const { artifacts } = await open(t)
      assert.deepEqual(await artifacts.list(), [])
      const first = await artifacts.put(input({ type: 'text/plain; charset=utf-8' }))
      await new Promise((resolve) => setTimeout(resolve, 2))
      const second = await artifacts.put(input())
      assert.equal(first.type, 'text/plain; charset=utf-8')
      assert.deepEqual(await artifacts.list(), [second, first])
    })

    test('put() cleans the name', async (t) => {
      const { artifacts } = await open(t)
      const { path, id } = await artifacts.put(input({ name: '../../été/x y.txt' }))
      assert.equal(path, `artifacts/${id}/_.._t_x_y.txt`.replace('_t_', '__t__'))
      assert.ok(await artifacts.get(path))
    })

    test('put() refuses fewer or more bytes than announced, and leaves nothing behind', async (t) => {
      const { artifacts } = await open(t)
      for (const announced of [9, 11, 0]) {
        const put = artifacts.put({ ...input({}, Buffer.from('0123456789')), bytes: announced })
        await assert.rejects(put, (error) => hasParam(error, 'bytes'))
      }
      assert.deepEqual(await artifacts.list(), [])
    })

    test('put() stops reading at the first byte too many', async (t) => {
      const { artifacts } = await open(t)
      let read = 0
      async function* endless() {
        for (;;) {
          read += 1
          yield Buffer.alloc(1000)
        }
      }
      await assert.rejects(artifacts.put({ ...input(), bytes: 5000, content: endless() }), (error) =>
        hasParam(error, 'bytes'),
      )
      assert.ok(read < 50, `read ${read} pieces`)
    })

    test('put() refuses what is too large before it reads', async (t) => {
      const { artifacts } = await open(t)
      const unread: AsyncIterable<Uint8Array> = {
        [Symbol.asyncIterator]() {
          throw new Error('it was read')
        },
      }
      const put = artifacts.put({ ...input(), bytes: limits.artifactBytesMax + 1, content: unread })
      await assert.rejects(put, { code: 'S3_SIZE_LIMIT_EXCEEDED' })
    })

    test('put() refuses bad parameters by name', async (t) => {
      const { artifacts } = await open(t)
      const bad = { id: 'mine', owner: 'me', name: '..', type: 'text', bytes: -1 }
      for (const [param, value] of Object.entries(bad)) {
        await assert.rejects(artifacts.put({ ...input(), [param]: value }), (error) => hasParam(error, param), param)
      }
      for (const bytes of [1.5, Number.NaN]) await assert.rejects(artifacts.put({ ...input(), bytes }))
      const noName = ['text/', '.text/plain', 'text/+xml', `text/${'x'.repeat(128)}`, 'text/pläin', 'text/plain/x']
      for (const type of ['text/plain\r\nx: y', 'text/plain\r\n;x: y', ...noName])
        await assert.rejects(artifacts.put(input({ type })), (error) => hasParam(error, 'type'))
    })

    test('put() reports a source that fails, and leaves nothing behind', async (t) => {
      const { artifacts } = await open(t)
      async function* broken() {
        yield Buffer.from('01234')
        throw new Error('the line is dead')
      }
      const put = artifacts.put({ ...input(), bytes: 10, content: broken() })
      await assert.rejects(put, { code: 'S3_UPLOAD_FAILED', message: /the line is dead/ })
      assert.deepEqual(await artifacts.list(), [])
    })

    test('put() can be cancelled while it waits', async (t) => {
      const { artifacts } = await open(t)
      async function* stuck() {
        yield Buffer.from('01234')
        await new Promise(() => {})
      }
      const put = artifacts.put({ ...input(), bytes: 10, content: stuck(), signal: AbortSignal.timeout(30) })
      await assert.rejects(put, { code: 'CANCELLED' })
      assert.deepEqual(await artifacts.list(), [])
      await assert.rejects(artifacts.put({ ...input(), signal: AbortSignal.abort() }), { code: 'CANCELLED' })
      const calm = await artifacts.put({ ...input(), signal: new AbortController().signal })
      assert.deepEqual(await artifacts.list(), [calm])
    })

    test('two artifacts of the same name are two artifacts', async (t) => {
      const { artifacts } = await open(t)
      const all = await Promise.all(Array.from({ length: 10 }, (_, i) => artifacts.put(input({}, Buffer.from(`${i}`)))))
      assert.equal(new Set(all.map(({ path }) => path)).size, 10)
      for (const [i, { id }] of all.entries()) {
        assert.equal((await collect((await artifacts.get(id))!.content)).toString(), `${i}`)
      }
    })

    test('put() stores the same content under the same id once, and refuses other content there', async (t) => {
      const { artifacts } = await open(t)
      const id = newId<ArtifactId>()
      const first = await artifacts.put(input({ id }))
      assert.equal(first.id, id)
      for (const again of [input({ id }), input({ id: id.toUpperCase() as ArtifactId, name: 'b.txt' })]) {
        assert.deepEqual(await artifacts.put(again), first)
      }
      for (const other of ['hallo', 'longer than that']) {
        const put = artifacts.put(input({ id }, Buffer.from(other)))
        await assert.rejects(put, (error) => hasParam(error, 'id'), other)
      }
      await assert.rejects(artifacts.put({ ...input({ id }), bytes: 6 }), (error) => hasParam(error, 'bytes'))
      await assert.rejects(artifacts.put({ ...input({ id }), signal: AbortSignal.abort() }), { code: 'CANCELLED' })
      assert.deepEqual(await artifacts.list(), [first])
      assert.equal((await collect((await artifacts.get(id))!.content)).toString(), 'hello')
    })

    test('put() stores an id once where several store it at the same time', async (t) => {
      const { artifacts } = await open(t)
      const id = newId<ArtifactId>()
      const owner = newId<RunId>()
      const same = await Promise.all([1, 2, 3, 4].map(() => artifacts.put(input({ id, owner }))))
      assert.deepEqual(
        same,
        same.map(() => same[0]),
      )
      assert.deepEqual(await artifacts.list(), [same[0]])
      const other = newId<ArtifactId>()
      const texts = ['one', 'two', 'six', 'ten']
      const puts = await Promise.allSettled(texts.map((text) => artifacts.put(input({ id: other }, Buffer.from(text)))))
      const stored = puts.filter((put) => put.status === 'fulfilled')
      assert.equal(stored.length, 1)
      for (const put of puts) assert.ok(put.status === 'fulfilled' || hasParam(put.reason, 'id'))
      const found = (await artifacts.get(other))!
      assert.equal((await collect(found.content)).toString(), texts[puts.indexOf(stored[0]!)])
    })

    test('get() answers null for what is not there, and refuses what is no address', async (t) => {
      const { artifacts } = await open(t)
      const { id } = await artifacts.put(input({ name: 'a.txt' }))
      assert.equal(await artifacts.get(newId()), null)
      assert.equal(await artifacts.get(`artifacts/${newId()}/a.txt`), null)
      assert.equal(await artifacts.get(`artifacts/${id}/b.txt`), null)
      const wrong = [
        'x',
        '',
        '/',
        `artifacts/${id}/../${id}/a.txt`,
        `artifacts/${id}`,
        `artifacts/x/a.txt`,
        `/artifacts/${id}/a.txt`,
      ]
      for (const address of [...wrong, `artifacts/${id}/.artifact.json`, `artifacts/${id}/a\0.txt`]) {
        await assert.rejects(artifacts.get(address), { code: 'INVALID_INPUT_PARAM' }, address)
      }
    })

    test('get() fails while reading what was changed or cut in store', async (t) => {
      const { artifacts, spoil } = await open(t)
      for (const how of ['change', 'cut'] as const) {
        const { path } = await artifacts.put(input({}, randomBytes(200_000), 10_000))
        await spoil(path, how)
        const found = (await artifacts.get(path))!
        await assert.rejects(collect(found.content), { code: 'S3_DOWNLOAD_FAILED' })
      }
    })
  })
}

export function input(
  changes: Partial<ArtifactInput> = {},
  bytes = Buffer.from('hello'),
  pieceBytes = 3,
): ArtifactInput {
  async function* content() {
    for (let i = 0; i < bytes.length; i += pieceBytes) yield bytes.subarray(i, i + pieceBytes)
  }
  const owner = newId<RunId>()
  return { owner, name: 'a.txt', type: 'application/octet-stream', bytes: bytes.length, content: content(), ...changes }
}

export async function collect(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function hasParam(error: unknown, param: string): boolean {
  const { code, context } = error as { code: string; context: { param: string } }
  return code === 'INVALID_INPUT_PARAM' && context.param === param
}
