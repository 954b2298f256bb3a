/** The archive, read back by the real tar. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '#test'
import { type TarEntry, tar } from './tar.ts'

async function write(file: string, entries: TarEntry[]): Promise<Buffer> {
  const bytes = Buffer.concat(await Array.fromAsync(tar(entries)))
  writeFileSync(file, bytes)
  return bytes
}

const file = (path: string, text: string): TarEntry => {
  const bytes = Buffer.from(text)
  return { path, bytes: bytes.length, content: [bytes.subarray(0, 3), bytes.subarray(3)] }
}

test('tar() writes what tar reads: empty files and folders, whole blocks, and paths of any length', async (t) => {
  const folder = temporaryFolder(t)
  const id = '0192f0c1-2345-7abc-8def-0123456789ab'
  const contents: [path: string, text: string][] = [
    ['empty', ''],
    ['block', 'x'.repeat(512)],
    ['more', 'y'.repeat(513)],
    [`artifacts/${id}/${'n'.repeat(100)}`, 'in the prefix'],
    [`artifacts/${id}/${'m'.repeat(255)}`, 'in a pax record'],
    [`artifacts/${id}/${'é'.repeat(90)}`, 'counted in bytes'],
  ]
  for (const length of [77, 78, 79, 80, 81]) contents.push([`${'p'.repeat(length)}/${'q'.repeat(120)}`, String(length)])
  const entries = [{ path: 'blobs/', bytes: 0, content: [] }, ...contents.map(([path, text]) => file(path, text))]
  const archive = join(folder, 'a.tar')
  await write(archive, entries)
  execFileSync('tar', ['-xf', archive, '-C', folder])
  for (const [path, text] of contents) assert.equal(readFileSync(join(folder, path), 'utf8'), text, path)
  const listed = execFileSync('tar', ['-tf', archive, '--quoting-style=literal'], { encoding: 'utf8' })
  assert.deepEqual(listed.trimEnd().split('\n'), ['blobs/', ...contents.map(([path]) => path)])
  const python = `import tarfile, sys; print(len(tarfile.open(sys.argv[1]).getmembers()))`
  assert.equal(execFileSync('python3', ['-c', python, archive], { encoding: 'utf8' }).trim(), String(entries.length))
})

test('tar() refuses a content that is longer or shorter than announced', async (t) => {
  const archive = join(temporaryFolder(t), 'a.tar')
  await assert.rejects(write(archive, [{ ...file('a', 'abcd'), bytes: 5 }]), /a has 4 bytes instead of 5/)
  await assert.rejects(write(archive, [{ ...file('a', 'abcd'), bytes: 3 }]), /a has 4 bytes instead of 3/)
})
