/**
 * Bad disks: a torn log gives a proven prefix or a clear error, a full disk a clear refusal and no
 * harm.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, type Json, newId, type RunId } from '#model'
import { type Chain, homePaths, openArtifactFolder, openStore, verify } from '#record'
import { dice, temporaryFolder } from '#test'
import { resumeRun, sampleStart, startKeeper } from './record-process.ts'

const rounds = process.env.LONG === '1' ? 300 : 30

type Row = { run: string; n: number; line: string; hash: string }

function rowsOf(home: string): Map<string, Row> {
  const database = new DatabaseSync(join(home, 'metier.db'))
  const rows = database.prepare('SELECT run, n, line, hash FROM event ORDER BY seq').all() as Row[]
  database.close()
  return new Map(rows.map((row) => [`${row.run} ${row.n}`, row]))
}

test('a torn log leaves a proven prefix, or is refused', async (t) => {
  const seed = Date.now() % 1e9
  const roll = dice(seed)
  const folder = temporaryFolder(t)
  const home = join(folder, 'home')
  const keeper = startKeeper(t, home, 'load')
  await keeper.ready
  await pause(250)
  await keeper.kill()
  const log = readFileSync(join(home, 'metier.db-wal'))
  assert.ok(log.length > 100_000, 'there is a log to tear')
  const whole = join(folder, 'whole')
  cpSync(home, whole, { recursive: true })
  const all = rowsOf(whole)

  for (let round = 0; round < rounds; round++) {
    const copy = join(folder, 'torn')
    cpSync(home, copy, { recursive: true, filter: (path) => !path.endsWith('-shm') })
    const torn = Buffer.from(log)
    const place = Math.floor(roll() * torn.length)
    if (round % 2 === 0) torn[place]! ^= 1 << (round % 8)
    writeFileSync(join(copy, 'metier.db-wal'), round % 2 === 0 ? torn : torn.subarray(0, place))
    const story = `seed ${seed}, round ${round}, byte ${place}`
    const verdict = await verify(copy)
    const left = rowsOf(copy)
    for (const [key, row] of left) assert.deepEqual(row, all.get(key), story)
    const isBehind = verdict.ok === false && /it is missing|no such table/.test(verdict.reason!)
    assert.ok(verdict.ok || isBehind, `${story}: ${verdict.reason}`)
    const store = await openStore({ home: copy })
    for (const { run, count } of store.runs()) assert.equal(store.events(run).length, count, story)
    await store.close()
    rmSync(copy, { recursive: true })
  }
})

test('a full disk is refused clearly, loses nothing, and the store goes on when there is space', {
  timeout: 120_000,
}, async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root, to mount a small file system')
  const disk = mountSmall(t)
  const store = await openStore({ home: join(disk, 'home') })
  const runs: RunId[] = []
  for (const value of [{ small: 1 }, 'large '.repeat(20_000)]) {
    const chain = store.startRun(newId<RunId>(), sampleStart)
    await chain.durable()
    fill(disk, 500_000)
    const { last, refused } = await appendUntilRefused(chain, value)
    assert.ok(refused instanceof AppError && refused.code === 'STORE_FULL', String(refused))
    assert.match(refused.message, /the disk is full. Free some space, then resume/)
    assert.throws(() => chain.append('call.sent', { call: '1', attempt: 1 }), refused)
    await assert.rejects(chain.durable(), refused)
    assert.equal(store.events(chain.run).length, last, 'what was acknowledged is there, and nothing else')
    const verdict = await verify(store.home)
    assert.equal(verdict.ok, true, verdict.reason)
    const artifacts = openArtifactFolder(homePaths(store.home).artifacts)
    await assert.rejects(artifacts.put(artifact(600_000)), { code: 'STORE_FULL' })
    assert.deepEqual(await artifacts.list(), [])
    rmSync(join(disk, 'filler'))
    runs.push(chain.run)
  }
  for (const run of runs) {
    const chain = await resumeRun(store, run)
    await chain.finish({ status: 'done', result: 'large '.repeat(20_000), callCount: 1, ms: 1 })
  }
  await store.close()
  const verdict = await verify(store.home)
  assert.equal(verdict.ok, true, verdict.reason)
})

test('a store that is closed on a full disk says so, and leaves its log to the next', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root, to mount a small file system')
  const disk = mountSmall(t)
  const home = join(disk, 'home')
  const store = await openStore({ home })
  const chain = store.startRun(newId<RunId>(), sampleStart)
  await chain.durable()
  const { refused } = await appendUntilRefused(chain, 'large '.repeat(5000))
  assert.ok(refused instanceof AppError && refused.code === 'STORE_FULL', String(refused))
  fill(disk, 0)
  await assert.rejects(store.close(), { code: 'STORE_FULL' })
  rmSync(join(disk, 'filler'))
  const verdict = await verify(home)
  assert.equal(verdict.ok, true, verdict.reason)
})

function artifact(bytes: number) {
  async function* content() {
    yield Buffer.alloc(bytes)
  }
  return { owner: newId<RunId>(), name: 'a.bin', type: 'application/octet-stream', bytes, content: content() }
}

function mountSmall(t: TestContext): string {
  const disk = mkdtempSync(join(tmpdir(), 'metier-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk])
  t.after(() => {
    execFileSync('umount', ['--lazy', disk])
    rmdirSync(disk)
  })
  return disk
}

/** Leaves so many bytes free. The writer may take some meanwhile, for its log: then once more. */
function fill(disk: string, left: number): void {
  const filler = join(disk, 'filler')
  for (let tries = 3; ; tries--) {
    const { bavail, bsize } = statfsSync(disk)
    try {
      return writeFileSync(filler, Buffer.alloc(bavail * bsize - left))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC' || tries === 0) throw error
      rmSync(filler, { force: true })
    }
  }
}

async function appendUntilRefused(chain: Chain, value: Json): Promise<{ last: number; refused: unknown }> {
  let last = 1
  for (;;) {
    try {
      const body = { call: '1', attempt: 1, outcome: 'answered', ok: true, ms: 0, by: 'mock' } as const
      const { n } = chain.append('call.resolved', { ...body, value: [value, last] })
      await chain.durable()
      last = n
    } catch (refused) {
      return { last, refused }
    }
  }
}

test('a home that cannot be written is refused with what to do', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root, to mount a file system that is read-only')
  const disk = mountSmall(t)
  const home = join(disk, 'home')
  await (await openStore({ home })).close()
  execFileSync('mount', ['-o', 'remount,ro', disk])
  for (const folder of [home, join(disk, 'new')]) {
    const refused = await openStore({ home: folder }).catch((error) => error)
    assert.equal(refused.code, 'CONFIG_INVALID')
    assert.match(refused.message, /^Cannot open .*Choose a folder that you may write with --home$/)
  }
  const artifacts = openArtifactFolder(homePaths(home).artifacts)
  await assert.rejects(artifacts.put(artifact(1)), { code: 'S3_ACCESS_DENIED' })
  assert.equal((await verify(home)).ok, true, 'but it can be verified')
})
