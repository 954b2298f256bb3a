/** Pages of an artifact: together they are its content, and no character is split. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentOf, readPage } from './artifact-content.ts'

const text = 'naïve 𝄞 clef, 日本語, e\u0301 and plain'

/** In pieces, so that characters are cut between them. */
const pageOf = (bytes: Buffer, type: string, offset: number, limit: number) => {
  async function* content() {
    for (let from = 0; from < bytes.length; from += 3) yield bytes.subarray(from, from + 3)
  }
  return readPage({ type, bytes: bytes.length, content: content() }, offset, limit)
}

test('readPage() gives pages that join to the text, whatever their size', async () => {
  const bytes = Buffer.from(text)
  for (let limit = 1; limit <= bytes.length + 1; limit++) {
    let joined = ''
    for (let offset: number | null = 0; offset !== null; ) {
      const page = await pageOf(bytes, 'text/plain; charset=utf-8', offset, limit)
      assert.ok('content' in page && page.content.length > 0, `limit ${limit} at ${offset}`)
      joined += page.content
      offset = page.next
    }
    assert.equal(joined, text, `limit ${limit}`)
  }
})

test('readPage() begins with the next whole character where the offset is inside one', async () => {
  const bytes = Buffer.from('𝄞a')
  const expected = { content: 'a', offset: 4, next: null }
  for (const offset of [1, 2, 3, 4]) assert.deepEqual(await pageOf(bytes, 'application/json', offset, 10), expected)
  assert.deepEqual(await pageOf(bytes, 'text/plain', 99, 10), { content: '', offset: 5, next: null })
})

test('readPage() gives bytes where it is no text, or only says so', async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80])
  for (const type of ['image/png', 'text/plain'])
    assert.deepEqual(await pageOf(bytes, type, 1, 2), { contentBase64: '/gA=', offset: 1, next: 3 })
})

test('readPage() gives what has no known type as text where all of it can be one', async () => {
  const type = 'application/octet-stream'
  assert.deepEqual(await pageOf(Buffer.from('42\n'), type, 0, 9), { content: '42\n', offset: 0, next: null })
  const bytes = Buffer.from([0x34, 0x32, 0xff])
  assert.deepEqual(await pageOf(bytes, type, 0, 2), { contentBase64: 'NDI=', offset: 0, next: 2 })
})

test('contentOf() takes exactly one form, and refuses base64 that is none', () => {
  const parts = { resultText: () => '{"a":1}' } as unknown as Parameters<typeof contentOf>[1]
  assert.equal(contentOf({ content: text }, parts).toString(), text)
  assert.equal(contentOf({ contentBase64: 'aGk=' }, parts).toString(), 'hi')
  assert.equal(contentOf({ from: { run: 'x' } }, parts).toString(), '{"a":1}')
  const wrong = [
    { content: 'a', contentBase64: 'aGk=' },
    { contentBase64: 'aGk' },
    { contentBase64: 'a\nGk=' },
    { content: '\ud800' },
  ]
  for (const given of wrong) assert.throws(() => contentOf(given, parts), { code: 'INVALID_INPUT_PARAM' })
  assert.throws(() => contentOf({}, parts), { code: 'MISSING_REQUIRED_PARAM' })
})
