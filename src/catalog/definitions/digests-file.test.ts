/**
 * The digests of a large list on disk: taken where they are of that list, computed and written
 * again where they are not.
 */
import assert from 'node:assert/strict'
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openCatalog } from '#catalog'
import { limits, parseConfig } from '#model'
import { root, temporaryFolder } from '#test'
import { readDigests, writeDigests } from './digests-file.ts'

const digestsOf = (count: number) => Array.from({ length: count }, (_, at) => at.toString(16).padStart(64, '0'))
const anchor = { type: 'tool.pinned', n: 3, hash: 'h' } as const

test('readDigests() takes no file of another list, of another length, or that is damaged', (t) => {
  const folder = temporaryFolder(t)
  const kept = { digests: digestsOf(50), listed: { digest: 'l', anchor } }
  assert.equal(readDigests(folder, 'big', 'a', 50), null, 'there is none')
  writeDigests(folder, 'big', 'a', kept)
  const file = join(folder, 'big.digests')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(readDigests(folder, 'big', 'a', 50), kept)
  assert.equal(readDigests(folder, 'big', 'b', 50), null)
  assert.equal(readDigests(folder, 'big', 'a', 49), null)
  const intact = readFileSync(file)
  const end = intact.indexOf(10)
  for (const at of [0, 8, end - 8, end + 1, intact.length - 1]) {
    const damaged = Buffer.from(intact)
    damaged[at]! ^= 1
    writeFileSync(file, damaged)
    assert.equal(readDigests(folder, 'big', 'a', 50), null, `byte ${at}`)
  }
  writeFileSync(file, intact.subarray(0, intact.length - 32))
  assert.equal(readDigests(folder, 'big', 'a', 50), null, 'cut off')
})

/** A catalogue of one server with so many tools that their digests are kept. */
function large(t: TestContext) {
  const folder = temporaryFolder(t)
  const many = {
    command: process.execPath,
    args: [join(root, 'test', 'servers', 'many.ts')],
    env: { TOOLS: String(limits.digestsKeptToolsMin) },
  }
  const text = JSON.stringify({ mcpServers: { many } })
  const { servers } = parseConfig({ file: 'metier.json', text, home: folder, env: process.env, directory: folder })
  const digests = async () => {
    const catalog = openCatalog({ servers, folder, baseEnv: { PATH: process.env.PATH! } })
    const { tools, problems } = await catalog.tools()
    assert.deepEqual(problems, [])
    await catalog.close()
    return tools.map(({ digest }) => digest)
  }
  return { file: join(folder, 'many.digests'), list: join(folder, 'many.json'), digests }
}

test('openCatalog() takes the kept digests of a list, and computes those of one that was changed or damaged', async (t) => {
  const { file, list, digests } = large(t)
  const computed = await digests()
  assert.equal(new Set(computed).size, limits.digestsKeptToolsMin)
  utimesSync(file, 1, 1)
  assert.deepEqual(await digests(), computed)
  assert.equal(statSync(file).mtimeMs, 1000, 'they were read, not computed and written again')

  const intact = readFileSync(file)
  const damaged = Buffer.from(intact)
  damaged[damaged.length - 1]! ^= 1
  writeFileSync(file, damaged)
  assert.deepEqual(await digests(), computed)
  const payload = (bytes: Buffer) => bytes.subarray(bytes.indexOf(10))
  assert(payload(readFileSync(file)).equals(payload(intact)), 'they are kept again')

  const remembered = JSON.parse(readFileSync(list, 'utf8'))
  remembered.tools[7].description = 'something else'
  writeFileSync(list, JSON.stringify(remembered))
  const other = await digests()
  assert.notEqual(other[7], computed[7])
  assert.deepEqual(other.toSpliced(7, 1), computed.toSpliced(7, 1))
})
