/**
 * Verification of the rows beside the record: a change in any of them is noticed, and named by the
 * event it belongs to.
 */
import assert from 'node:assert/strict'
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, type TestContext, test } from 'node:test'
import { type ArtifactId, newId, type RunId } from '#model'
import type { Store } from '#record'
import { openArtifactFolder } from '#record/artifacts'
import { firstHash, lineHash } from '#record/ledger'
import { openSecrets } from '#record/secrets'
import { finishSample, keeper, openSample, sampleStart, startSample, temporaryFolder } from '#test'
import { verify } from './verify-home.ts'

const secret = 'sk-Zebra9Quokka7Numbat5'
let original = ''
let artifact: ArtifactId
const runs: Record<'finished' | 'keyed' | 'waiting' | 'cut' | 'purged', RunId> = {} as never

/**
 * A home with a row of every kind; the runs that are open belong to no process any more, but for
 * one whose process is gone.
 */
before(async (t) => {
  const store = await openSample(t as TestContext)
  runs.finished = await finishSample(store, 2, 'x'.repeat(70_000))
  const keyed = startSample(store, { key: 'K1' })
  await keyed.finish({ status: 'failed', callCount: 0, ms: 1 })
  runs.keyed = keyed.run
  runs.waiting = await wait(store)
  const cut = startSample(store, { key: 'K3' })
  await cut.durable()
  runs.cut = cut.run
  const purged = startSample(store, { key: 'K2' })
  await purged.finish({ status: 'done', callCount: 0, ms: 1 })
  runs.purged = purged.run
  await store.checkpoint()
  await store.purge(purged.run, keeper)
  await store.send(runs.waiting, 'cancel.asked', { who: 'me', from: 'cli' })
  artifact = await storeArtifact(store)
  await store.close()
  original = store.home
})

async function wait(store: Store): Promise<RunId> {
  const chain = startSample(store)
  const call = { tool: 'a:pay', effect: 'unsafe', effectFrom: 'default', definition: null } as const
  const secrets = openSecrets({ patterns: ['sk-[A-Za-z0-9]{20,}'], known: [], seed: sampleStart.seed, chain })
  chain.append('call.issued', { ...call, call: '1', args: {} })
  const value = secrets.hide({ token: secret }, 'a')
  chain.append('call.resolved', { call: '1', attempt: 1, outcome: 'answered', ok: true, value, ms: 1, by: 'upstream' })
  for (const number of ['2', '3']) {
    chain.append('call.issued', { ...call, call: number, args: {} })
    const asked = { approval: `q${number}`, call: number, digest: '0', why: 'it pays', expiresAt: '' }
    chain.append('approval.asked', asked)
  }
  chain.append('approval.answered', {
    approval: 'q2',
    call: '2',
    digest: '0',
    answer: 'denied',
    who: 'me',
    from: 'cli',
  })
  await chain.suspend({ why: 'approval', calls: ['3'] })
  const taken = await store.takeRun(chain.run)
  taken.append('run.resumed', { by: 'me', epoch: 2, engine: sampleStart.engine, isolation: null })
  await taken.suspend({ why: 'approval', calls: ['3'] })
  return chain.run
}

async function storeArtifact(store: Store): Promise<ArtifactId> {
  const bytes = Buffer.from('a file')
  const content = (async function* () {
    yield bytes
  })()
  const { id, name, digest } = await openArtifactFolder(join(store.home, 'artifacts')).put({
    owner: newId(),
    name: 'file.txt',
    type: 'text/plain',
    bytes: bytes.length,
    content,
  })
  await store.appendHome('artifact.stored', { id, name, bytes: bytes.length, digest })
  return id
}

let copies = 0

/**
 * The verdict on a copy of the home after a change, made as a person who has the file can make it.
 */
async function after(t: TestContext, change: (database: DatabaseSync, home: string) => void, run?: RunId) {
  const home = join(temporaryFolder(t), String(copies++))
  cpSync(original, home, { recursive: true })
  const database = new DatabaseSync(join(home, 'metier.db'))
  const triggers = database.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`).all()
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`)
  change(database, home)
  for (const { sql } of triggers) database.exec(sql as string)
  database.close()
  const verdict = await verify(home, run === undefined ? {} : { run })
  rmSync(home, { recursive: true })
  return verdict
}

test('verify() is content with rows of every kind that nobody touched', async (t) => {
  const { ok, reason } = await after(t, () => {})
  assert.deepEqual([ok, reason], [true, undefined])
  for (const run of Object.values(runs)) assert.equal((await after(t, () => {}, run)).ok, true, run)
})

/**
 * Not derivable: a row's own number, who owns a run that moves, how often it was taken over without
 * a word, and the order of the inbox.
 */
const free = [/^run\.id/, /^run\.(owner|epoch) of CUT/, /^inbox\.id/]

test('verify() notices a change in every column of every row beside the record', async (t) => {
  const database = new DatabaseSync(join(original, 'metier.db'), { readOnly: true })
  const changes: { story: string; sql: string; values: (string | number)[] }[] = []
  for (const table of ['run', 'request', 'approval', 'sealed', 'inbox', 'blob', 'purged']) {
    const columns = database.prepare(`PRAGMA table_info(${table})`).all() as { name: string; pk: number }[]
    const keys = columns.filter(({ pk }) => pk > 0).map(({ name }) => name)
    const rows = database.prepare(`SELECT * FROM ${table}`).all() as Record<string, string | number>[]
    assert.ok(rows.length > 0, `${table} has rows`)
    const where = keys.map((key) => `${key} = ?`).join(' AND ')
    for (const row of rows) {
      const of = row.run === runs.cut ? ' of CUT' : ''
      const values = keys.map((key) => row[key]!)
      changes.push({ story: `${table} row removed${of}`, sql: `DELETE FROM ${table} WHERE ${where}`, values })
      for (const { name } of columns) {
        const value =
          row[name] === null
            ? `'1'`
            : typeof row[name] === 'number'
              ? `${name} + 1000`
              : row[name] === 'home' || typeof row[name] === 'string'
                ? `${name} || 'x'`
                : `randomblob(60)`
        const sql = `UPDATE ${table} SET ${name} = ${value} WHERE ${where}`
        changes.push({ story: `${table}.${name}${of}: ${value}`, sql, values })
      }
    }
  }
  database.close()
  assert.ok(changes.length > 60, `${changes.length} changes`)
  for (const { story, sql, values } of changes) {
    if (free.some((pattern) => pattern.test(story)) || story === 'inbox row removed') continue
    const { ok, firstBad, reason } = await after(t, (open) => open.prepare(sql).run(...values))
    assert.equal(ok, false, story)
    assert.equal(typeof firstBad?.n, 'number', story)
    assert.ok(reason!.length > 0, story)
  }
})

test('verify() names the event whose row was changed, and says what', async (t) => {
  const cases: [sql: string, run: RunId, n: number, reason: RegExp][] = [
    [`UPDATE run SET status = 'failed' WHERE status = 'done'`, runs.finished, 8, /"failed" in the index.*"done"/],
    [`UPDATE run SET status = 'uncertain' WHERE run = '${runs.waiting}'`, runs.waiting, 11, /"uncertain" in the index/],
    [`UPDATE run SET call_count = 9 WHERE run = '${runs.finished}'`, runs.finished, 8, /number of calls/],
    [`UPDATE run SET epoch = 7 WHERE run = '${runs.waiting}'`, runs.waiting, 10, /epoch/],
    [`UPDATE run SET owner = NULL WHERE run = '${runs.cut}'`, runs.cut, 1, /owner/],
    [`UPDATE request SET key = NULL WHERE key = 'K1'`, runs.keyed, 1, /its key is not the one in the index/],
    [`UPDATE request SET intent = 'EVIL'`, runs.finished, 1, /its intent/],
    [`DELETE FROM approval WHERE approval = 'q3'`, runs.waiting, 7, /its approval q3 is not in the index/],
    [`UPDATE approval SET answer = 'approved'`, runs.waiting, 5, /its approval q2 is not the one/],
    [`DELETE FROM sealed`, runs.waiting, 3, /sealed value of its secret «secret:[0-9a-f]{32}» is missing/],
    [`UPDATE sealed SET server = 'b'`, runs.waiting, 11, /does not open/],
    [`UPDATE inbox SET type = 'approval.answered'`, runs.waiting, 11, /inbox says that it is a approval.answered/],
    [`DELETE FROM blob`, runs.finished, 4, /needs blob/],
    [
      `INSERT INTO inbox (run, type, box) VALUES ('${runs.finished}', 'cancel.asked', x'00')`,
      runs.finished,
      8,
      /not open/,
    ],
  ]
  for (const [sql, run, n, reason] of cases) {
    const verdict = await after(t, (database) => database.exec(sql))
    assert.deepEqual([verdict.ok, verdict.firstBad], [false, { run, n }], `${sql}: ${verdict.reason}`)
    assert.match(verdict.reason!, reason, sql)
    const alone = await after(t, (database) => database.exec(sql), run)
    assert.deepEqual([alone.ok, alone.firstBad], [false, { run, n }], `${sql}, the run alone: ${alone.reason}`)
  }
})

test('verify() notices rows that belong to nothing, and the key of a purged run that was taken away', async (t) => {
  const stranger = newId()
  const rows = [
    `UPDATE purged SET key = NULL`,
    `DELETE FROM purged`,
    `INSERT INTO purged VALUES ('${stranger}', 'K9')`,
    `INSERT INTO request VALUES (999, 'K9', NULL)`,
    `INSERT INTO blob VALUES ('${runs.finished}', '${'0'.repeat(64)}')`,
    `INSERT INTO approval VALUES ('q9', '${runs.waiting}', 1, NULL)`,
    `INSERT INTO sealed VALUES ('${stranger}', 'p', 's', x'00')`,
  ]
  for (const sql of rows) {
    const { ok, firstBad } = await after(t, (database) => database.exec(sql))
    assert.deepEqual([ok, typeof firstBad?.n], [false, 'number'], sql)
  }
})

test('verify() notices tables, indexes and triggers that are not ours', async (t) => {
  const changes = [
    'CREATE TRIGGER quiet AFTER INSERT ON event BEGIN DELETE FROM inbox; END',
    'DROP INDEX approval_open; CREATE INDEX approval_open ON approval (seq) WHERE answer IS NOT NULL',
    'CREATE VIEW run_view AS SELECT 1',
  ]
  for (const sql of changes) {
    const { ok, reason } = await after(t, (database) => database.exec(sql))
    assert.equal(ok, false, sql)
    assert.match(reason!, /the database was changed: its (trigger quiet|index approval_open|view run_view)/)
  }
})

test('verify() notices a stored artifact whose bytes or card were changed, or that is gone', async (t) => {
  const card = join('artifacts', artifact, '.artifact.json')
  const spoils: ((home: string) => void)[] = [
    (home) => writeFileSync(join(home, 'artifacts', artifact, 'file.txt'), 'a fine'),
    (home) => writeFileSync(join(home, card), '{}'),
    (home) => rmSync(join(home, card)),
    (home) => rmSync(join(home, 'artifacts', artifact), { recursive: true }),
  ]
  for (const spoil of spoils) {
    const { ok, firstBad, reason } = await after(t, (_, home) => spoil(home))
    assert.deepEqual([ok, firstBad?.run], [false, 'home'], String(spoil))
    assert.match(reason!, /artifact/)
  }
})

/** Appends to the home's chain as a person can who has the file and no key. */
function forge(database: DatabaseSync, type: string, body: object): void {
  const head = database.prepare(`SELECT n, hash, seq FROM run WHERE run = 'home'`).get() as {
    n: number
    hash: string
    seq: number
  }
  const { line: last } = database.prepare('SELECT line FROM event WHERE seq = ?').get(head.seq) as { line: string }
  const line = JSON.stringify({ run: 'home', n: head.n + 1, at: JSON.parse(last).at, type, body })
  const hash = lineHash(head.n === 0 ? firstHash : head.hash, line)
  const { seq } = database.prepare('SELECT max(seq) + 1 AS seq FROM event').get() as { seq: number }
  database
    .prepare('INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)')
    .run(seq, 'home', head.n + 1, type, line, hash, head.seq)
  database.prepare(`UPDATE run SET n = ?, hash = ?, seq = ? WHERE run = 'home'`).run(head.n + 1, hash, seq)
}

function forgePurge(database: DatabaseSync, run: RunId, said: object, closes = false): void {
  const { n, hash, key } = database
    .prepare('SELECT n, hash, key FROM run JOIN request USING (id) WHERE run = ?')
    .get(run) as {
    n: number
    hash: string
    key: string | null
  }
  if (closes) forge(database, 'run.closed', { run, head: hash, count: n })
  forge(database, 'run.purged', { run, head: hash, count: n, ...said })
  database.prepare('INSERT INTO purged VALUES (?, ?)').run(run, key)
  database.prepare('DELETE FROM request WHERE id IN (SELECT id FROM run WHERE run = ?)').run(run)
  for (const table of ['event', 'run', 'blob', 'inbox', 'sealed', 'approval']) {
    database.prepare(`DELETE FROM ${table} WHERE run = ?`).run(run)
  }
}

test('verify() refuses a purge that this home did not sign, whatever it says and whatever run it removes', async (t) => {
  const byMe = { who: 'me', from: 'cli', signature: 'ab'.repeat(64), key: 'cd'.repeat(32) }
  for (const [run, said, closes] of [
    [runs.waiting, {}, false],
    [runs.waiting, {}, true],
    [runs.waiting, byMe, true],
    [runs.finished, {}, false],
    [runs.finished, byMe, false],
  ] as const) {
    const { ok, firstBad, reason } = await after(t, (database) => forgePurge(database, run, said, closes))
    assert.deepEqual([ok, firstBad?.run], [false, 'home'], JSON.stringify(said))
    assert.match(reason!, /without this home's signature/)
  }
})

test('verify() refuses the purge of an unfinished run also where purges are not signed, as in older homes', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  await chain.suspend({ why: 'approval', calls: [] })
  const database = new DatabaseSync(join(store.home, 'metier.db'), { timeout: 5000 })
  database.exec('BEGIN; DROP TRIGGER event_remains')
  forgePurge(database, chain.run, {})
  database.exec(
    `CREATE TRIGGER event_remains BEFORE DELETE ON event WHEN NOT EXISTS (SELECT 1 FROM purged WHERE run = OLD.run) BEGIN
    SELECT RAISE(ABORT, 'the record is append-only'); END; COMMIT`,
  )
  database.close()
  const { ok, firstBad, reason } = await verify(store.home)
  assert.deepEqual([ok, firstBad], [false, { run: 'home', n: 2 }])
  assert.match(reason!, /which was not finished/)
})

test('verify() is content with blobs that no event names: a crash before the commit leaves them', async (t) => {
  const { ok } = await after(t, (_, home) => {
    assert.equal(readdirSync(join(home, 'blobs')).length, 1)
    writeFileSync(join(home, 'blobs', 'f'.repeat(64)), 'x')
  })
  assert.equal(ok, true)
})
