/** A box that lies about what it hands out is not believed. */
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { limits } from '#model'
import { temporaryFolder } from '#test'
import { everyOutput, receiveOutputs } from './outputs.ts'
import { readStatus } from './status-reader.ts'

async function* said(text: string, pieceBytes: number) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

test('receiveOutputs() takes apart what a box says, in whatever pieces it comes', async (t) => {
  for (const pieceBytes of [1, 3, 1000]) {
    const folder = join(temporaryFolder(t), 'outputs')
    const order = { paths: ['/outputs/a', '/outputs/b', '/outputs/c'], folder }
    const words = 'file 5\nend\n!absent\nfile 0\nend\n'
    const { files, missing } = await receiveOutputs(readStatus(said(words, pieceBytes)), order)
    assert.deepEqual(missing, [{ path: '/outputs/b', reason: 'absent' }])
    assert.deepEqual(
      files.map(({ path, file }) => [path, readFileSync(file, 'utf8')]),
      [
        ['/outputs/a', 'end\n!'],
        ['/outputs/c', ''],
      ],
    )
    assert.equal(statSync(folder).mode & 0o777, 0o700)
  }
})

test('receiveOutputs() refuses sizes that are too large, words that it does not know, and an early end', async (t) => {
  const { artifactBytesMax } = limits
  const lies: [string, RegExp][] = [
    ['', /ended too early/],
    ['file 5\nabc', /in the middle of a file/],
    ['file 3\nabc', /ended too early/],
    ['file 3\nabcabsent\n', /did not say that this was all/],
    ['file 3\nabcabsent\nabsent\n', /did not say that this was all/],
    [`file ${artifactBytesMax + 1}\n`, /it said "file/],
    ['file 99999999999999\n', /it said "file/],
    ['file -1\n', /it said/],
    ['file 1e3\n', /it said/],
    ['constructor\n', /it said/],
    ['x'.repeat(100_000), /ended too early/],
  ]
  for (const [words, message] of lies) {
    const order = { paths: ['/outputs/a', '/outputs/b'], folder: join(temporaryFolder(t), 'outputs') }
    await assert.rejects(receiveOutputs(readStatus(said(words, 1000)), order), message, words.slice(0, 40))
  }
})

test('receiveOutputs() takes every file by the name that its box gives it, and no lie about that', async (t) => {
  const receive = (words: string) =>
    receiveOutputs(readStatus(said(words, 7)), { paths: everyOutput, folder: join(temporaryFolder(t), 'outputs') })
  const { files, missing } = await receive('name 3\na/bfile 2\nokname 1\nxnot_regular\nmore\nend\n')
  assert.deepEqual(
    files.map(({ path, file }) => [path, readFileSync(file, 'utf8')]),
    [['/outputs/a/b', 'ok']],
  )
  assert.deepEqual(missing, [
    { path: '/outputs/x', reason: 'not_regular' },
    { path: '/outputs/', reason: 'too_many' },
  ])
  const flood = 'name 1\nxabsent\n'.repeat(limits.scriptOutputFilesMax + 1)
  for (const words of ['', 'name 0\n', 'name 99999\n', 'file 1\nx', 'more\nname 1\n', flood, 'name 1\nxend\n'])
    await assert.rejects(receive(words), words)
  await assert.rejects(receive(`name 1\nxfile ${limits.agentOutputBytesMax + 1}\n`), /it said "file/)
})

test('receiveOutputs() bounds all files together', async (t) => {
  const { artifactBytesMax, scriptOutputFilesBytesMax } = limits
  const count = Math.ceil((scriptOutputFilesBytesMax + 1) / artifactBytesMax)
  const paths = Array.from({ length: count }, (_, i) => `/outputs/${i}`)
  async function* flood() {
    for (let i = 0; i < count; i++) {
      yield Buffer.from(`file ${artifactBytesMax}\n`)
      yield Buffer.alloc(artifactBytesMax)
    }
    yield Buffer.from('end\n')
  }
  const order = { paths, folder: join(temporaryFolder(t), 'outputs') }
  await assert.rejects(receiveOutputs(readStatus(flood()), order), /it said "file/)
})
