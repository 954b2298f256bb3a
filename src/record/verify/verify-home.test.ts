/**
 * Verification under attack: whatever is changed behind our back is noticed, and the first bad
 * event is named.
 */
import assert from 'node:assert/strict'
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, type TestContext, test } from 'node:test'
import { firstHash, lineHash } from '#record/ledger'
import { dice, finishSample, keeper, openSample, startSample, temporaryFolder } from '#test'
import { verify } from './verify-home.ts'

type Row = { seq: number; run: string; n: number; type: string; line: string; hash: string }
type Tampered = { home: string; database: DatabaseSync; rows: Row[] }

const rounds = process.env.LONG === '1' ? 2000 : 80

/**
 * A home with everything in it: finished, suspended and purged runs, blobs, and checkpoints in
 * between.
 */
let original = ''
before(async (t) => {
  const store = await openSample(t as TestContext)
  await finishSample(store, 3)
  await finishSample(store, 2, 'x'.repeat(70_000))
  await store.checkpoint()
  await store.purge(await finishSample(store, 1), keeper)
  await store.checkpoint()
  const waiting = startSample(store)
  for (let i = 1; i < 8; i++) waiting.append('call.sent', { call: 'é', attempt: i })
  await waiting.suspend({ why: 'approval', calls: ['1'] })
  await finishSample(store, 2)
  await store.close()
  original = store.home
})

/** A copy of the home, open for anything. */
function tamper(t: TestContext, folder: string, number: number): Tampered {
  const home = join(folder, String(number))
  cpSync(original, home, { recursive: true })
  return openRaw(t, home)
}

function openRaw(t: TestContext, home: string): Tampered {
  const database = new DatabaseSync(join(home, 'metier.db'))
  withoutTriggers(database)
  t.after(() => database.isOpen && database.close())
  const rows = database.prepare('SELECT seq, run, n, type, line, hash FROM event ORDER BY seq').all() as Row[]
  return { home, database, rows }
}

/**
 * Who has the file can take the triggers away, and put them back when done: nothing shows that they
 * were gone.
 */
function withoutTriggers(database: DatabaseSync): void {
  const triggers = database.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`).all()
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`)
  const close = database.close.bind(database)
  database.close = () => {
    for (const { sql } of triggers) database.exec(sql as string)
    close()
  }
}

async function verdictOf({ home, database }: Tampered) {
  database.close()
  const verdict = await verify(home)
  rmSync(home, { recursive: true })
  return verdict
}

test('verify() finds nothing wrong with a record that nobody touched', async (t) => {
  const { database, home, rows } = tamper(t, temporaryFolder(t), 0)
  database.close()
  assert.deepEqual(await verify(home), { ok: true, events: rows.length })
  const run = rows.find(({ type }) => type === 'run.suspended')!.run
  const { ok, events } = await verify(home, { run })
  assert.deepEqual([ok, events], [true, rows.filter((row) => row.run === run || row.run === 'home').length])
})

test('verify() of a home that has nothing yet is ok with 0 events', async (t) => {
  const folder = temporaryFolder(t)
  assert.deepEqual(await verify(join(folder, 'none')), { ok: true, events: 0 })
  const store = await openSample(t, { home: join(folder, 'home') })
  assert.deepEqual(await verify(store.home), { ok: true, events: 0 })
})

test('verify() names the first bad event after any single tampering', async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1e9)
  const roll = dice(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(roll() * list.length)]!
  const folder = temporaryFolder(t)
  for (let round = 0; round < rounds; round++) {
    const attack = pick(Object.keys(attacks))
    const tampered = tamper(t, folder, round)
    const expected = attacks[attack]!(tampered, pick)
    const { ok, firstBad, reason } = await verdictOf(tampered)
    const story = `seed ${seed}, round ${round}: ${attack}, expected ${JSON.stringify(expected)}, said "${reason}"`
    assert.deepEqual({ ok, firstBad }, { ok: false, firstBad: { run: expected.run, n: expected.n } }, story)
    if (/removed|cut off/.test(attack)) assert.match(reason!, /^it is missing/, story)
  }
})

type Pick = <T>(list: readonly T[]) => T
type Place = { run: string; n: number }

const attacks: Record<string, (tampered: Tampered, pick: Pick) => Place> = {
  'one byte of a line'({ database, rows }, pick) {
    const row = pick(rows)
    const bytes = Buffer.from(row.line)
    const index = pick([...bytes.keys()])
    bytes[index] = (bytes[index]! + pick([1, 7, 32, 128, 255])) % 256
    database.prepare('UPDATE event SET line = CAST(? AS TEXT) WHERE seq = ?').run(bytes, row.seq)
    return row
  },
  'one byte less of a line'({ database, rows }, pick) {
    const row = pick(rows)
    const bytes = Buffer.from(row.line)
    const index = pick([...bytes.keys()])
    const shorter = Buffer.concat([bytes.subarray(0, index), bytes.subarray(index + 1)])
    database.prepare('UPDATE event SET line = CAST(? AS TEXT) WHERE seq = ?').run(shorter, row.seq)
    return row
  },
  'one character of a column'({ database, rows }, pick) {
    const row = pick(rows)
    const column = pick(['hash', 'type', 'run'] as const)
    const index = pick([...row[column]].map((_, i) => i))
    const value = `${row[column].slice(0, index)}${row[column][index] === '1' ? '2' : '1'}${row[column].slice(index + 1)}`
    database.prepare(`UPDATE event SET ${column} = ? WHERE seq = ?`).run(value, row.seq)
    return row
  },
  'another number'({ database, rows }, pick) {
    const row = pick(rows)
    database.prepare('UPDATE event SET n = n + ? WHERE seq = ?').run(pick([-1000, 1000]), row.seq)
    return row
  },
  'another event before'({ database, rows }, pick) {
    const row = pick(rows)
    database.prepare('UPDATE event SET previous = coalesce(previous, 0) + ? WHERE seq = ?').run(pick([-1, 1]), row.seq)
    return row
  },
  'an event twice'({ database, rows }, pick) {
    const row = pick(rows)
    database
      .prepare('INSERT INTO event SELECT ?, run, n, type, line, hash, previous FROM event WHERE seq = ?')
      .run(rows.at(-1)!.seq + 1, row.seq)
    return { run: row.run, n: rows.findLast(({ run }) => run === row.run)!.n + 1 }
  },
  'an event removed'({ database, rows }, pick) {
    const row = pick(rows)
    database.prepare('DELETE FROM event WHERE seq = ?').run(row.seq)
    return row
  },
  'a run removed'({ database, rows }, pick) {
    const { run } = pick(rows.filter((row) => row.run !== 'home'))
    for (const table of ['event', 'run']) database.prepare(`DELETE FROM ${table} WHERE run = ?`).run(run)
    return { run, n: 1 }
  },
  'two events of a chain swapped'({ database, rows }, pick) {
    const one = pick(rows)
    const other = pick(rows.filter(({ run, n }) => run === one.run && n !== one.n))
    const put = database.prepare('UPDATE event SET type = ?, line = ?, hash = ? WHERE seq = ?')
    put.run(other.type, other.line, other.hash, one.seq)
    put.run(one.type, one.line, one.hash, other.seq)
    return one.n < other.n ? one : other
  },
  'a tail cut off, the index adjusted'({ database, rows }, pick) {
    const row = pick(rows.filter(({ n }) => n > 1))
    const last = rows.find(({ run, n }) => run === row.run && n === row.n - 1)!
    database.prepare('DELETE FROM event WHERE run = ? AND n >= ?').run(row.run, row.n)
    database.prepare('UPDATE run SET n = ?, hash = ? WHERE run = ?').run(last.n, last.hash, row.run)
    return row
  },
}

test('verify() is not deceived by a chain that was written anew with fitting hashes', async (t) => {
  const tampered = tamper(t, temporaryFolder(t), 0)
  const { run } = tampered.rows.find(({ type }) => type === 'run.suspended')!
  rewrite(tampered, run, 3, (line) => line.replace('"attempt":2', '"attempt":9'))
  const last = tampered.rows.filter((row) => row.run === run).length
  const verdict = await verdictOf(tampered)
  assert.deepEqual([verdict.ok, verdict.firstBad], [false, { run, n: last }])
  assert.match(verdict.reason!, /not the one in checkpoint/)
})

test('verify() is not deceived by a home written anew: it cannot sign', async (t) => {
  const tampered = tamper(t, temporaryFolder(t), 0)
  const { n } = tampered.rows.find(({ type }) => type === 'run.purged')!
  rewrite(tampered, 'home', n, (line) => line.replace('"count":5', '"count":4'))
  writeFileSync(join(tampered.home, 'checkpoints.jsonl'), '')
  const verdict = await verdictOf(tampered)
  assert.deepEqual([verdict.ok, verdict.firstBad], [false, { run: 'home', n }])
  assert.match(verdict.reason!, /without this home's signature/)
})

test('verify() is not deceived by a checkpoint whose heads were written anew', async (t) => {
  const tampered = tamper(t, temporaryFolder(t), 0)
  const { n } = tampered.rows.findLast(({ type }) => type === 'ledger.checkpointed')!
  const file = join(tampered.home, 'checkpoints.jsonl')
  const forge = (line: string) => line.replace(/("n":3,"hash":")./, '$1x').replace(/("n":8,"hash":")./, '$1x')
  rewrite(tampered, 'home', n, forge)
  const lines = readFileSync(file, 'utf8').split('\n')
  writeFileSync(file, [...lines.slice(0, -2), forge(lines.at(-2)!), ''].join('\n'))
  const verdict = await verdictOf(tampered)
  assert.deepEqual([verdict.ok, verdict.firstBad], [false, { run: 'home', n }])
  assert.match(verdict.reason!, /signature does not fit/)
})

test('verify() sees through what no checkpoint has covered yet', async (t) => {
  const store = await openSample(t)
  await finishSample(store)
  const folder = temporaryFolder(t)
  const open = async (number: number, change: (tampered: Tampered, run: string) => Place) => {
    const copy = join(folder, String(number))
    const database = new DatabaseSync(join(store.home, 'metier.db'))
    cpSync(store.home, copy, { recursive: true, filter: (path) => !/processes|metier\.db/.test(path) })
    database.exec(`VACUUM INTO '${join(copy, 'metier.db')}'`)
    database.close()
    const tampered = openRaw(t, copy)
    const expected = change(tampered, tampered.rows.find(({ type }) => type === 'run.finished')!.run)
    return { expected, verdict: await verdictOf(tampered) }
  }

  const earlier = await open(1, (tampered, run) => {
    rewrite(tampered, run, 3, (line) => line.replace(/"at":"..../, '"at":"1999'))
    return { run, n: 3 }
  })
  assert.deepEqual(earlier.verdict.firstBad, earlier.expected)
  assert.match(earlier.verdict.reason!, /its time is before/)

  const longer = await open(2, ({ database, rows }, run) => {
    const last = rows.findLast((row) => row.run === run)!
    const line = last.line.replace(`"n":${last.n}`, `"n":${last.n + 1}`)
    const hash = lineHash(last.hash, line)
    database
      .prepare('INSERT INTO event (run, n, type, line, hash) VALUES (?, ?, ?, ?, ?)')
      .run(run, last.n + 1, last.type, line, hash)
    database.prepare('UPDATE run SET n = n + 1, hash = ? WHERE run = ?').run(hash, run)
    return { run, n: last.n + 1 }
  })
  assert.deepEqual(longer.verdict.firstBad, longer.expected)
  assert.match(longer.verdict.reason!, /after the end of the run/)

  const removed = await open(4, ({ database }, run) => {
    for (const table of ['event', 'run']) database.prepare(`DELETE FROM ${table} WHERE run = ?`).run(run)
    database.exec(`DELETE FROM event WHERE run = 'home' AND n = 2`)
    database.exec(`UPDATE run SET n = 1, hash = (SELECT hash FROM event WHERE run = 'home' AND n = 1)`)
    return { run, n: 1 }
  })
  assert.deepEqual(removed.verdict.firstBad, removed.expected)
  assert.match(removed.verdict.reason!, /the whole run/)

  const reopened = await open(3, ({ database, rows }) => {
    const [first] = rows.filter((row) => row.run === 'home')
    database.exec(`DELETE FROM event WHERE run = 'home' AND n = 2`)
    database.prepare(`UPDATE run SET n = 1, hash = ? WHERE run = 'home'`).run(first!.hash)
    return { run: 'home', n: 2 }
  })
  assert.deepEqual(reopened.verdict.firstBad, reopened.expected)
  assert.match(reopened.verdict.reason!, /was not closed/)
})

/** Changes one line and gives every event from there on the hash that fits. */
function rewrite({ database, rows }: Tampered, run: string, n: number, change: (line: string) => string): void {
  let hash = firstHash
  for (const row of rows.filter((row) => row.run === run)) {
    const line = row.n === n ? change(row.line) : row.line
    assert.ok(row.n !== n || line !== row.line, 'the attack changes something')
    hash = lineHash(hash, line)
    database.prepare('UPDATE event SET line = ?, hash = ? WHERE seq = ?').run(line, hash, row.seq)
  }
  database.prepare('UPDATE run SET hash = ? WHERE run = ?').run(hash, run)
}

test('verify() notices events and rows of runs that the home never opened', async (t) => {
  const folder = temporaryFolder(t)
  const forged = '0192f0c1-2345-7abc-8def-0123456789ab'
  const line = `{"run":"${forged}","n":1,"at":"2025-11-13T02:13:20.000Z","type":"call.sent","body":{}}`
  const added = tamper(t, folder, 0)
  const insert = added.database.prepare('INSERT INTO event (run, n, type, line, hash) VALUES (?, 1, ?, ?, ?)')
  insert.run(forged, 'call.sent', line, lineHash(firstHash, line))
  assert.deepEqual((await verdictOf(added)).firstBad, { run: forged, n: 1 })

  const indexed = tamper(t, folder, 1)
  indexed.database
    .prepare(`INSERT INTO run SELECT 99, ?, owner, epoch, status, 0, 0, n, hash, at, seq FROM run LIMIT 1`)
    .run(forged)
  assert.deepEqual((await verdictOf(indexed)).firstBad, { run: forged, n: 1 })
})

test('verify() compares the index: head, count and whether the run is over', async (t) => {
  const folder = temporaryFolder(t)
  const changes = ['n = n + 1', 'n = n - 1', `hash = '${'f'.repeat(64)}'`, `status = 'running'`, 'seq = seq - 1']
  for (const [i, change] of changes.entries()) {
    const tampered = tamper(t, folder, i)
    const { run, n } = tampered.rows.findLast(({ type }) => type === 'run.finished')!
    tampered.database.prepare(`UPDATE run SET ${change} WHERE run = ?`).run(run)
    const { ok, firstBad } = await verdictOf(tampered)
    assert.deepEqual({ ok, firstBad }, { ok: false, firstBad: { run, n: change === 'n = n + 1' ? n + 1 : n } }, change)
  }
  const gone = tamper(t, folder, 9)
  const { run, n } = gone.rows.findLast(({ type }) => type === 'run.finished')!
  gone.database.prepare('DELETE FROM run WHERE run = ?').run(run)
  const verdict = await verdictOf(gone)
  assert.deepEqual(verdict.firstBad, { run, n })
  assert.match(verdict.reason!, /no row in the index/)
})

test('verify() notices that the order of arrival was changed', async (t) => {
  const tampered = tamper(t, temporaryFolder(t), 0)
  const [one, other] = tampered.rows.filter(({ type }) => type === 'call.sent')
  const put = tampered.database.prepare('UPDATE event SET seq = ? WHERE seq = ?')
  put.run(-1, one!.seq)
  put.run(one!.seq, other!.seq)
  put.run(other!.seq, -1)
  assert.equal((await verdictOf(tampered)).ok, false)
})

test('verify() notices a blob that was changed or removed', async (t) => {
  const folder = temporaryFolder(t)
  for (const [i, spoil] of [(file: string) => rmSync(file), (file: string) => appendFileSync(file, ' ')].entries()) {
    const tampered = tamper(t, folder, i)
    const { run, n } = tampered.rows.find(({ line }) => line.includes('$blob'))!
    const blobs = readdirSync(join(tampered.home, 'blobs'))
    assert.equal(blobs.length, 1)
    spoil(join(tampered.home, 'blobs', blobs[0]!))
    const verdict = await verdictOf(tampered)
    assert.deepEqual([verdict.ok, verdict.firstBad], [false, { run, n }])
  }
})

test('verify() notices a checkpoint that was taken out of the file, or changed there', async (t) => {
  const folder = temporaryFolder(t)
  const spoils: ((lines: string[]) => string[])[] = [
    ([, ...rest]) => rest,
    ([first, ...rest]) => [first!.replace('"n":1', '"n":2'), ...rest],
    (lines) => lines.map((line) => line.replace(/"signature":"./, '"signature":"x')),
    (lines) => ['garbage', ...lines],
    () => [],
  ]
  for (const [i, spoil] of spoils.entries()) {
    const tampered = tamper(t, folder, i)
    const file = join(tampered.home, 'checkpoints.jsonl')
    writeFileSync(
      file,
      spoil(readFileSync(file, 'utf8').split('\n').slice(0, -1))
        .map((line) => `${line}\n`)
        .join(''),
    )
    const verdict = await verdictOf(tampered)
    assert.deepEqual([verdict.ok, verdict.firstBad?.run], [false, 'home'], String(spoil))
  }
})

test('verify() says that a database behind its last checkpoint is behind, even if there is none', async (t) => {
  const folder = temporaryFolder(t)
  const { home, database } = tamper(t, folder, 0)
  database.close()
  rmSync(join(home, 'metier.db'))
  const verdict = await verify(home)
  assert.deepEqual([verdict.ok, verdict.events, verdict.firstBad], [false, 0, { run: 'home', n: 1 }])
})

test('verify() takes a checkpoint signed with another key for what it is', async (t) => {
  const folder = temporaryFolder(t)
  const { home, database, rows } = tamper(t, folder, 0)
  database.close()
  const stranger = await openSample(t, { home: join(folder, 'stranger') })
  await finishSample(stranger)
  await stranger.close()
  cpSync(join(stranger.home, 'keys', 'sign.pem'), join(home, 'keys', 'sign.pem'))
  const verdict = await verify(home)
  const { n } = rows.find(({ type }) => type === 'ledger.checkpointed')!
  assert.deepEqual([verdict.ok, verdict.firstBad], [false, { run: 'home', n }])
  assert.match(verdict.reason!, /its key is not this home's/)
})

test('verify() never throws on garbage', async (t) => {
  const folder = temporaryFolder(t)
  const roll = dice(7)
  for (let i = 0; i < 20; i++) {
    const { home, database } = tamper(t, folder, i)
    database.close()
    const file = join(home, 'metier.db')
    const bytes = readFileSync(file)
    for (let j = 0; j < 200; j++) bytes[Math.floor(roll() * bytes.length)] = Math.floor(roll() * 256)
    writeFileSync(file, bytes)
    if (i % 4 === 0) truncateSync(file, Math.floor(roll() * bytes.length))
    const verdict = await verify(home)
    assert.equal(verdict.ok, false)
    assert.equal(typeof verdict.firstBad!.n, 'number')
    assert.equal(typeof verdict.reason, 'string')
  }
})

test('verify() of one run ignores the others, and does not know a stranger', async (t) => {
  const tampered = tamper(t, temporaryFolder(t), 0)
  const [first, second] = new Set(tampered.rows.filter(({ type }) => type === 'run.finished').map(({ run }) => run))
  tampered.database.prepare('DELETE FROM event WHERE run = ? AND n = 2').run(first!)
  tampered.database.close()
  assert.deepEqual((await verify(tampered.home, { run: first! })).firstBad, { run: first!, n: 2 })
  assert.equal((await verify(tampered.home, { run: second! })).ok, true)
  await assert.rejects(verify(tampered.home, { run: 'nobody' }), { code: 'RUN_NOT_FOUND' })
})
