/**
 * An exported run, unpacked with tar and checked by its own two programs, before and after every
 * kind of change.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { generateKeyPairSync, sign } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type Json, newId, type RunId } from '#model'
import type { Store } from '#record'
import { openArtifactFolder } from '#record/artifacts'
import { dice, keeper, openSample, startSample, temporaryFolder } from '#test'
import { exportRun } from './export.ts'

/** Times as many bytes are changed in a long test. */
const effort = process.env.LONG === '1' ? 20 : 1

/** A run with three blobs, two artifacts (one of a long name) and text beyond ASCII. */
async function richRun(store: Store, finishes = true): Promise<RunId> {
  const chain = startSample(store, { intent: 'zähle « die » Schafe \u2028 ' })
  for (const [call, value] of [
    ['1', 'x'.repeat(70_000)],
    ['2', { deep: ['é'.repeat(40_000)] }],
    ['3', { $blob: 'looks like a reference' }],
  ] as [string, Json][]) {
    const issued = {
      call,
      tool: 'a:b',
      args: { call },
      effect: 'read',
      effectFrom: 'default',
      definition: null,
    } as const
    chain.append('call.issued', issued)
    chain.append('call.resolved', { call, attempt: 1, outcome: 'answered', ok: true, value, ms: 1, by: 'upstream' })
  }
  for (const name of ['report.txt', `${'n'.repeat(251)}.txt`]) {
    const bytes = Buffer.from(`the content of ${name}`)
    const content = (async function* () {
      yield bytes
    })()
    const input = { owner: chain.run, name, type: 'text/plain', bytes: bytes.length, content }
    const { id, digest } = await openArtifactFolder(join(store.home, 'artifacts')).put(input)
    chain.append('artifact.stored', { id, name, bytes: bytes.length, digest })
  }
  if (finishes) await chain.finish({ status: 'done', result: null, callCount: 3, ms: 5 })
  else await chain.suspend({ why: 'approval', calls: ['3'] })
  return chain.run
}

type Verdict = { code: number | string | null | undefined; says: string }

/** The programs of the archive, run side by side as a stranger runs them. */
async function verdicts(
  folder: string,
  { words = [], judges = ['mjs', 'py'] }: { words?: string[]; judges?: string[] } = {},
) {
  return Promise.all(
    judges.map((kind) => {
      const command = kind === 'py' ? 'python3' : process.execPath
      return new Promise<Verdict>((resolve) => {
        execFile(command, [join(folder, `verify.${kind}`), ...words], (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : error.code, says: stdout + stderr })
        })
      })
    }),
  )
}

function unpack(t: TestContext, archive: string): string {
  const folder = join(temporaryFolder(t), 'unpacked')
  mkdirSync(folder)
  execFileSync('tar', ['-xzf', archive, '-C', folder])
  return folder
}

function filesIn(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return all.filter((path) => statSync(join(folder, path)).isFile()).sort()
}

test('exportRun() writes an archive that both of its programs accept, with the exact lines and every file', async (t) => {
  const store = await openSample(t)
  const run = await richRun(store)
  const file = join(temporaryFolder(t), 'run.tar.gz')
  const done = await exportRun(store.home, run, file)
  const { head, count } = store.run(run)!
  assert.deepEqual([done.head, done.count, done.status, done.complete], [head, count, 'done', true])
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const folder = unpack(t, file)
  assert.equal(
    readFileSync(join(folder, 'events.jsonl'), 'utf8'),
    store
      .lines(run)
      .map((line) => `${line}\n`)
      .join(''),
  )
  const files = filesIn(folder)
  assert.equal(files.filter((path) => path.startsWith('blobs/')).length, 3)
  assert.equal(files.filter((path) => path.startsWith('artifacts/')).length, 2)
  assert.deepEqual(
    files.filter((path) => !path.includes('/')),
    ['events.jsonl', 'manifest.json', 'statement.dsse.json', 'verify.mjs', 'verify.py'],
  )
  for (const { code, says } of await verdicts(folder)) {
    assert.equal(code, 0, says)
    assert.match(
      says,
      new RegExp(`^ok: run ${run}, ${count} events, done\\nhead ${head}\\nsigned with key ${done.key}\\n$`),
    )
  }
  for (const { code } of await verdicts(folder, { words: [folder, '--key', done.key] })) assert.equal(code, 0)
  for (const { code, says } of await verdicts(folder, { words: ['--key', '0'.repeat(64)] })) {
    assert.equal(code, 1)
    assert.match(says, /signed with another key/)
  }
})

test('exportRun() gives the same bytes again, and an archive of an unfinished run says so', async (t) => {
  const store = await openSample(t)
  const run = await richRun(store, false)
  const folder = temporaryFolder(t)
  const [one, two] = [join(folder, 'one.tar.gz'), join(folder, 'two.tar.gz')]
  const { complete, status } = await exportRun(store.home, run, one)
  await exportRun(store.home, run, two)
  assert.deepEqual(readFileSync(one), readFileSync(two))
  assert.deepEqual([complete, status], [false, 'approval_required'])
  for (const { code, says } of await verdicts(unpack(t, one))) {
    assert.equal(code, 0, says)
    assert.match(says, /NOT FINISHED when it was exported \(approval_required\)/)
  }
})

test('both programs of an archive notice one changed byte in any of its files', async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1e9)
  const roll = dice(seed)
  const store = await openSample(t)
  const file = join(temporaryFolder(t), 'run.tar.gz')
  await exportRun(store.home, await richRun(store), file)
  const folder = unpack(t, file)
  let flips = 0
  for (const path of filesIn(folder)) {
    const original = readFileSync(join(folder, path))
    const isText = ['statement.dsse.json', 'events.jsonl', 'manifest.json'].includes(path)
    // What a program says of itself after a change is its own affair; the other one must say it.
    const judges = path === 'verify.mjs' ? ['py'] : path === 'verify.py' ? ['mjs'] : ['mjs', 'py']
    const places = Array.from({ length: isText ? 6 * effort : effort }, () => Math.floor(roll() * original.length))
    for (const place of [0, original.length - 1, ...places]) {
      const changed = Buffer.from(original)
      changed[place] = changed[place]! ^ (1 << Math.floor(roll() * 8))
      writeFileSync(join(folder, path), changed)
      for (const { code, says } of await verdicts(folder, { judges })) {
        assert.equal(code, 1, `seed ${seed}: byte ${place} of ${path}: ${says}`)
        assert.match(says, /^NOT OK: /)
        flips += 1
      }
    }
    writeFileSync(join(folder, path), original)
  }
  assert.ok(flips > 50)
  for (const { code } of await verdicts(folder)) assert.equal(code, 0)
})

test('both programs of an archive notice lines and files that were removed, added, moved or replaced', async (t) => {
  const store = await openSample(t)
  const file = join(temporaryFolder(t), 'run.tar.gz')
  await exportRun(store.home, await richRun(store), file)
  const other = join(temporaryFolder(t), 'other.tar.gz')
  await exportRun(store.home, await richRun(store), other)
  const pristine = unpack(t, file)
  const stranger = unpack(t, other)
  const blob = filesIn(pristine).find((path) => path.startsWith('blobs/'))!
  const artifact = filesIn(pristine).find((path) => path.startsWith('artifacts/'))!
  const lines = (folder: string, change: (lines: string[]) => string[]) => {
    const path = join(folder, 'events.jsonl')
    writeFileSync(path, change(readFileSync(path, 'utf8').split('\n')).join('\n'))
  }
  const changes: ((folder: string) => void)[] = [
    (folder) => lines(folder, ([, ...rest]) => rest),
    (folder) => lines(folder, (all) => [...all.slice(0, -2), '']),
    (folder) => lines(folder, ([one, two, ...rest]) => [two!, one!, ...rest]),
    (folder) => lines(folder, ([one, ...rest]) => [one!, one!, ...rest]),
    (folder) => lines(folder, (all) => all.slice(0, -1)),
    (folder) => appendFileSync(join(folder, 'events.jsonl'), '\n'),
    (folder) => rmSync(join(folder, blob)),
    (folder) => rmSync(join(folder, artifact)),
    (folder) => rmSync(join(folder, 'manifest.json')),
    (folder) => rmSync(join(folder, 'statement.dsse.json')),
    (folder) => rmSync(join(folder, 'events.jsonl')),
    (folder) => writeFileSync(join(folder, 'extra.txt'), ''),
    (folder) => writeFileSync(join(folder, 'blobs', 'f'.repeat(64)), 'x'),
    (folder) => mkdirSync(join(folder, 'more')),
    (folder) => symlinkSync('/etc/hostname', join(folder, 'blobs', 'e'.repeat(64))),
    (folder) => renameSync(join(folder, blob), join(folder, 'blobs', '0'.repeat(64))),
    (folder) => cpSync(join(stranger, 'manifest.json'), join(folder, 'manifest.json')),
    (folder) => cpSync(join(stranger, 'statement.dsse.json'), join(folder, 'statement.dsse.json')),
    (folder) => cpSync(join(stranger, 'events.jsonl'), join(folder, 'events.jsonl')),
  ]
  for (const change of changes) {
    const folder = join(temporaryFolder(t), 'copy')
    cpSync(pristine, folder, { recursive: true })
    change(folder)
    for (const { code, says } of await verdicts(folder)) {
      assert.equal(code, 1, `${change}: ${says}`)
      assert.match(says, /^NOT OK: /)
    }
  }
})

test('exportRun() refuses a record that does not verify, a purged run and an unknown one, and leaves no file', async (t) => {
  const store = await openSample(t)
  const run = await richRun(store)
  const folder = temporaryFolder(t)
  const file = join(folder, 'run.tar.gz')
  await assert.rejects(exportRun(store.home, newId<RunId>(), file), { code: 'RUN_NOT_FOUND' })
  const purged = await richRun(store)
  await store.purge(purged, keeper)
  await assert.rejects(exportRun(store.home, purged, file), { code: 'RUN_PURGED' })
  const database = new DatabaseSync(join(store.home, 'metier.db'), { timeout: 5000 })
  database.exec(`UPDATE run SET status = 'failed' WHERE run = '${run}'`)
  await assert.rejects(exportRun(store.home, run, file), { code: 'LEDGER_BROKEN' })
  database.exec(`UPDATE run SET status = 'done' WHERE run = '${run}'`)
  database.close()
  await assert.rejects(exportRun(store.home, run, join(folder, 'none', 'run.tar.gz')))
  assert.deepEqual(readdirSync(folder), [])
  await exportRun(store.home, run, file)
  assert.deepEqual(readdirSync(folder), ['run.tar.gz'])
})

test('is_signed() of verify.py accepts what Ed25519 signs, and nothing else', () => {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  const cases: [key: string, message: string, signature: string, isGood: boolean][] = [
    // RFC 8032, section 7.1, tests 1 and 2.
    [
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
      true,
    ],
    [
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
      true,
    ],
  ]
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  for (let i = 0; i < 12; i++) {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const key = hex(Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url'))
    const message = Buffer.from(`message ${i} ${'é'.repeat(i * 10)}`)
    const signature = sign(null, message, privateKey)
    cases.push([key, hex(message), hex(signature), true])
    const flipped = Buffer.from(signature)
    flipped[i * 5]! ^= 1
    cases.push([key, hex(message), hex(flipped), false])
    cases.push([key, hex(Buffer.concat([message, Buffer.from('x')])), hex(signature), false])
    cases.push([cases[0]![0], hex(message), hex(signature), false])
    // The same signature with S + L, which strict verification refuses.
    let scalar = BigInt(`0x${hex(Buffer.from(signature.subarray(32)).reverse())}`) + order
    const more = Buffer.alloc(32)
    for (let at = 0; at < 32; at++, scalar >>= 8n) more[at] = Number(scalar & 255n)
    cases.push([key, hex(message), hex(Buffer.concat([signature.subarray(0, 32), more])), false])
  }
  cases.push([`${'ff'.repeat(31)}7f`, '00', cases[0]![2], false], ['', '', '', false])
  const program = `
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location('verify', sys.argv[1]); verify = importlib.util.module_from_spec(spec); spec.loader.exec_module(verify)
print(json.dumps([verify.is_signed(bytes.fromhex(k), bytes.fromhex(m), bytes.fromhex(s)) for k, m, s, _ in json.load(sys.stdin)]))`
  const source = new URL('./verify-export.py', import.meta.url).pathname
  const said = execFileSync('python3', ['-B', '-c', program, source], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
  })
  assert.deepEqual(
    JSON.parse(said),
    cases.map(([, , , isGood]) => isGood),
  )
})
