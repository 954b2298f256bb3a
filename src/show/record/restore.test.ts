/**
 * Backups and what is made of them, as a person keeps them: from the command line, in a home that
 * others may use.
 */
import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync } from 'node:crypto'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { metier, serve, type Workspace, workspace } from '#test'

const program = `await mcp.fx.put({ key: 'k', value: 'v' }); return 'x'.repeat(100_000)`

/** A home with a finished run, a blob and an artifact, and its backup. */
async function backedUp(t: TestContext): Promise<{ space: Workspace; file: string; run: string }> {
  const space = workspace(t)
  const { json } = await metier(space, ['execute', 'x', '--code', '-', '--json'], { input: program })
  await metier(space, ['artifact', 'put', '-', '--name', 'a.txt'], { input: 'a file' })
  const file = join(space.folder, 'copy.db')
  const done = await metier(space, ['backup', file, '--json'])
  assert.equal(done.code, 0, done.stderr)
  return { space, file, run: json.run }
}

/** The disk lost the record; the keys were kept elsewhere and are back. */
function lose({ home }: Workspace): void {
  for (const name of readdirSync(home)) if (name !== 'keys') rmSync(join(home, name), { recursive: true })
}

function modesIn(folder: string): Set<string> {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => statSync(join(folder, path)))
  return new Set(all.map((found) => `${found.isDirectory() ? 'folder' : 'file'} ${(found.mode & 0o777).toString(8)}`))
}

test('a backup takes the task graph along, and restore puts it where there is none', async (t) => {
  const space = workspace(t)
  const create = (name: string) => metier(space, ['call', 'metier:create_mission', JSON.stringify({ name }), '--json'])
  await create('before')
  const file = join(space.folder, 'copy.db')
  assert.equal((await metier(space, ['backup', file])).code, 0)
  assert.equal(statSync(join(`${file}.files`, 'tasks.db')).mode & 0o777, 0o600)
  await create('after')
  const names = async () =>
    ((await metier(space, ['missions', '--json'])).json.missions as { name: string }[]).map(({ name }) => name)
  assert.deepEqual(await names(), ['before', 'after'])
  lose(space)
  assert.equal((await metier(space, ['restore', file])).code, 0)
  assert.deepEqual(await names(), ['before'])
})

test('backup writes both parts for their owner only, names them, and says that its copy verifies', async (t) => {
  const { space } = await backedUp(t)
  const file = join(space.folder, 'other.db')
  const said = await metier(space, ['backup', file])
  assert.equal(said.code, 0, said.stderr)
  assert.match(
    said.stdout,
    /^Wrote .*other\.db \(the database\) and .*other\.db\.files\/ \(.*\): \d+ events verify\.\n$/,
  )
  assert.match(said.stderr, /Keys are not in it/)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(modesIn(`${file}.files`), new Set(['folder 700', 'file 600']))
  const again = await metier(space, ['backup', file, '--json'])
  assert.deepEqual([again.code, again.json.error.code], [1, 'INVALID_INPUT_PARAM'])
})

test('restore puts a backup in the place of a record that is gone, says so on the record, and the home goes on', async (t) => {
  const { space, file, run } = await backedUp(t)
  const result = await metier(space, ['result', run, '--json'])
  lose(space)
  assert.deepEqual((await metier(space, ['runs', '--json'])).json, [], 'any command makes an empty record')
  const done = await metier(space, ['restore', file, '--json'])
  assert.equal(done.code, 0, done.stderr)
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex')
  assert.deepEqual(
    [done.json.file, done.json.home, done.json.digest, done.json.unfinished],
    [file, space.home, digest, []],
  )
  assert.equal(existsSync(join(space.home, 'restoring')), false)
  assert.equal((await metier(space, ['audit', 'verify'])).code, 0)
  assert.deepEqual((await metier(space, ['result', run, '--json'])).json, result.json)
  const [artifact] = (await metier(space, ['artifacts', '--json'])).json
  assert.equal((await metier(space, ['artifact', 'get', artifact.id])).stdout, 'a file')
  const lines = (await metier(space, ['audit', 'show', 'home', '--json'])).stdout.trim().split('\n')
  const events = lines.map((line) => JSON.parse(line))
  const restored = events.filter(({ type }) => type === 'ledger.restored')
  assert.deepEqual(
    restored.map(({ body }) => body),
    [{ from: file, digest }],
  )
  const next = await metier(space, ['execute', 'x', '--code', '-', '--json'], { input: program })
  assert.equal(next.json.status, 'done')
  assert.equal((await metier(space, ['audit', 'verify'])).code, 0)
})

test('restore overwrites no record and takes no home from a living process', async (t) => {
  const { space, file } = await backedUp(t)
  const before = readFileSync(join(space.home, 'metier.db'))
  const existing = await metier(space, ['restore', file, '--json'])
  assert.deepEqual([existing.code, existing.json.error.code], [1, 'INVALID_INPUT_PARAM'])
  assert.match(existing.json.error.message, /there is a record already.*leave keys\/ where it is/)
  assert.deepEqual(readFileSync(join(space.home, 'metier.db')), before)

  const served = await serve(t, space)
  const living = await metier(space, ['restore', file, '--json'])
  assert.deepEqual([living.code, living.json.error.code], [1, 'RUN_OWNED'])
  assert.match(living.json.error.message, /has this home open/)
  await served.stop()
})

test('restore refuses a copy that is broken or not whole, and keys that are missing or not its own', async (t) => {
  const { space, file } = await backedUp(t)
  lose(space)
  const [blob] = readdirSync(join(`${file}.files`, 'blobs'))
  const blobFile = join(`${file}.files`, 'blobs', blob!)
  const sign = join(space.home, 'keys', 'sign.pem')
  const away = join(space.folder, 'away')
  const stranger = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
  const own = readFileSync(sign)
  const changes: [make: () => void, undo: () => void, code: number, error: string][] = [
    [
      () => appendFileSync(blobFile, ' '),
      () => writeFileSync(blobFile, readFileSync(blobFile).subarray(0, -1)),
      7,
      'LEDGER_BROKEN',
    ],
    [() => renameSync(blobFile, away), () => renameSync(away, blobFile), 7, 'LEDGER_BROKEN'],
    [() => renameSync(`${file}.files`, away), () => renameSync(away, `${file}.files`), 1, 'INVALID_INPUT_PARAM'],
    [() => renameSync(file, away), () => renameSync(away, file), 1, 'INVALID_INPUT_PARAM'],
    [() => renameSync(sign, away), () => renameSync(away, sign), 3, 'CONFIG_INVALID'],
    [() => writeFileSync(sign, stranger), () => writeFileSync(sign, own), 7, 'LEDGER_BROKEN'],
  ]
  for (const [make, undo, code, error] of changes) {
    make()
    const refused = await metier(space, ['restore', file, '--json'])
    assert.deepEqual([refused.code, refused.json.error.code], [code, error], String(make))
    for (const name of ['metier.db', 'checkpoints.jsonl', 'restoring']) {
      assert.equal(existsSync(join(space.home, name)), false, `${make}: ${name}`)
    }
    undo()
  }
  const bytes = readFileSync(file)
  const spot = bytes.indexOf('"call.resolved"')
  const changed = Buffer.from(bytes)
  changed[spot + 2]! ^= 1
  writeFileSync(file, changed)
  assert.equal((await metier(space, ['restore', file, '--json'])).json.error.code, 'LEDGER_BROKEN')
  writeFileSync(file, bytes)
  assert.equal((await metier(space, ['restore', file])).code, 0)
})

test('restore that is killed at any moment leaves a home that nobody opens, until it is run again', async (t) => {
  const { space, file } = await backedUp(t)
  const at = (...path: string[]) => join(space.home, ...path)
  const moments = [
    () => existsSync(at('restoring')),
    () => existsSync(at('restoring', 'metier.db')),
    () => existsSync(at('restoring', 'checkpoints.jsonl')) && existsSync(at('restoring', 'keys', 'sign.pem')),
    () => existsSync(at('metier.db')),
  ]
  for (const killWhen of moments) {
    lose(space)
    const { killed, code } = await metier(space, ['restore', file], { killWhen })
    if (!killed) assert.equal(code, 0)
    if (existsSync(at('restoring'))) {
      const refused = await metier(space, ['runs', '--json'])
      assert.equal(refused.code, 3, refused.stdout)
      assert.match(refused.json.error.message, /a backup is being restored into it.*metier restore FILE/)
    }
    if (existsSync(at('restoring')) || !existsSync(at('metier.db'))) {
      const again = await metier(space, ['restore', file])
      assert.equal(again.code, 0, again.stderr)
    }
    assert.equal((await metier(space, ['audit', 'verify'])).code, 0, String(killWhen))
  }
  // Killed while the staging folder is removed: made by hand, as no clock hits it.
  mkdirSync(at('restored', 'keys'), { recursive: true })
  assert.equal((await metier(space, ['runs'])).code, 0)
  assert.equal(existsSync(at('restored')), false)
  // After the link and before the rest: likewise.
  mkdirSync(at('restoring'))
  linkSync(at('metier.db'), at('restoring', 'metier.db'))
  renameSync(at('checkpoints.jsonl'), at('restoring', 'checkpoints.jsonl'))
  assert.equal((await metier(space, ['runs'])).code, 3)
  assert.equal((await metier(space, ['restore', file])).code, 0)
  assert.deepEqual([existsSync(at('restoring')), existsSync(at('checkpoints.jsonl'))], [false, true])
  assert.equal((await metier(space, ['audit', 'verify'])).code, 0)
})

test('restore says which runs were not finished: what they did since the backup is not in it', async (t) => {
  const space = workspace(t, { config: { policy: { rules: [{ tool: 'fx:put', then: 'ask' }] } } })
  const { json } = await metier(space, ['execute', 'x', '--code', '-', '--json'], { input: program })
  assert.equal(json.status, 'approval_required')
  const file = join(space.folder, 'copy.db')
  assert.equal((await metier(space, ['backup', file])).code, 0)
  const kept = join(space.folder, 'keys')
  mkdirSync(kept)
  for (const name of readdirSync(join(space.home, 'keys')))
    copyFileSync(join(space.home, 'keys', name), join(kept, name))
  rmSync(space.home, { recursive: true })
  mkdirSync(join(space.home, 'keys'), { recursive: true, mode: 0o700 })
  for (const name of readdirSync(kept)) copyFileSync(join(kept, name), join(space.home, 'keys', name))
  const done = await metier(space, ['restore', file, '--json'])
  assert.deepEqual([done.code, done.json.unfinished], [0, [json.run]])
  assert.match(done.stderr, /1 runs were not finished when the backup was made/)
  const [approval] = (await metier(space, ['approvals', '--json'])).json
  assert.equal((await metier(space, ['approve', approval.id])).code, 0)
})
