/**
 * An older format becomes this one without losing an event, and what is derived equals what the
 * events say.
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type EventBodies, newId, type RunId, type RunStatus } from '#model'
import type { Chain } from '#record'
import { verify } from '#record/verify'
import { dice, finishSample, openSample, sampleStart, startSample, temporaryFolder } from '#test'
import { firstHash, lineHash, lineText } from './event-line.ts'
import { rebuildApprovals } from './tables.ts'

const firstFormat = `
  CREATE TABLE event (
    seq INTEGER PRIMARY KEY, run TEXT NOT NULL, n INTEGER NOT NULL, type TEXT NOT NULL, line TEXT NOT NULL,
    hash TEXT NOT NULL, UNIQUE (run, n)
  ) STRICT;
  CREATE INDEX event_checkpoint ON event (n) WHERE type = 'ledger.checkpointed';
  CREATE TABLE run (
    run TEXT PRIMARY KEY, owner TEXT, epoch INTEGER NOT NULL, status TEXT NOT NULL, key TEXT UNIQUE, intent TEXT,
    started_at INTEGER NOT NULL, call_count INTEGER NOT NULL, n INTEGER NOT NULL, hash TEXT NOT NULL, at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX run_started ON run (started_at);
  CREATE TABLE purged (run TEXT PRIMARY KEY, key TEXT UNIQUE) STRICT, WITHOUT ROWID;
  CREATE TABLE blob (run TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (run, digest)) STRICT, WITHOUT ROWID;
  CREATE INDEX blob_digest ON blob (digest);
  CREATE TABLE inbox (id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, type TEXT NOT NULL, box BLOB NOT NULL) STRICT;
  CREATE TABLE sealed (
    run TEXT NOT NULL, placeholder TEXT NOT NULL, server TEXT NOT NULL, box BLOB NOT NULL,
    PRIMARY KEY (run, placeholder, server)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER event_stays BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
  CREATE TRIGGER event_remains BEFORE DELETE ON event WHEN NOT EXISTS (SELECT 1 FROM purged WHERE run = OLD.run) BEGIN
    SELECT RAISE(ABORT, 'the record is append-only');
  END;
  PRAGMA application_id = ${0x4de97469}; PRAGMA user_version = 1;
`

/**
 * A home as the first format left it: two runs whose events arrived in turn, one of them with an
 * open approval.
 */
function writeFirst(file: string, runs: RunId[]): void {
  const database = new DatabaseSync(file)
  database.exec(firstFormat)
  const heads = new Map<string, { n: number; hash: string }>()
  const append = (run: string, type: string, body: object) => {
    const { n, hash } = heads.get(run) ?? { n: 0, hash: firstHash }
    const line = lineText(run, n + 1, 1000, type, JSON.stringify(body))
    heads.set(run, { n: n + 1, hash: lineHash(hash, line) })
    const values = [run, n + 1, type, line, lineHash(hash, line)]
    database.prepare('INSERT INTO event (run, n, type, line, hash) VALUES (?, ?, ?, ?, ?)').run(...values)
  }
  for (const run of runs) append('home', 'run.opened', { run })
  for (const run of runs) append(run, 'run.started', { ...sampleStart, key: `key ${run}` })
  for (const run of runs) append(run, 'call.issued', { call: '1', tool: 'a:b', args: { of: run } })
  append(runs[0]!, 'approval.asked', { approval: 'q1', call: '1', digest: '0', why: '', expiresAt: '' })
  for (const run of runs) append(run, 'run.suspended', { why: 'approval', calls: ['1'] })
  const insert = database.prepare(`INSERT INTO run VALUES (?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, 1000)`)
  for (const [run, { n, hash }] of heads) {
    if (run === 'home') insert.run(run, 0, 'home', null, null, 0, 0, n, hash)
    else insert.run(run, 1, 'approval_required', `key ${run}`, sampleStart.intent, 1000, 1, n, hash)
  }
  database.close()
}

test('openStore() turns the first format into this one, with every event, run and approval', async (t) => {
  const home = join(temporaryFolder(t), 'home')
  mkdirSync(home)
  const runs = [newId<RunId>(), newId<RunId>()]
  writeFirst(join(home, 'metier.db'), runs)
  const store = await openSample(t, { home })
  assert.deepEqual(await verify(home), { ok: true, events: 9 })
  assert.deepEqual(
    store.events(runs[0]!).map(({ type }) => type),
    ['run.started', 'call.issued', 'approval.asked', 'run.suspended'],
  )
  assert.equal(store.runByKey(`key ${runs[1]}`), runs[1])
  assert.equal(store.run(runs[1]!)!.intent, sampleStart.intent)
  assert.deepEqual(
    store.openApprovals().map(({ run, issued }) => [run, issued.body.args]),
    [[runs[0], { of: runs[0] }]],
  )
  const chain = await store.takeRun(runs[0]!)
  chain.append('run.resumed', { by: 'me', epoch: chain.epoch, engine: sampleStart.engine, isolation: null })
  await chain.finish({ status: 'done', callCount: 1, ms: 1 })
  assert.deepEqual(store.openApprovals(), [])
  assert.deepEqual(await verify(home), { ok: true, events: 12 })
  await store.close()
})

test('the index of approvals, as it is kept, equals what the events alone say', async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1e9)
  const roll = dice(seed)
  const store = await openSample(t)
  const chains = Array.from({ length: 6 }, () => startSample(store))
  for (let call = 1; call <= 20; call++) for (const chain of chains) askAndAnswer(chain, String(call), roll)
  const [finished, suspended, ...others] = chains
  await finished!.finish({ status: 'done', callCount: 1, ms: 1 })
  await suspended!.suspend({ why: 'approval', calls: [] })
  await Promise.all(others.map((chain) => chain.durable()))
  const taken = await store.takeRun(suspended!.run)
  for (const { run, asked } of store.openApprovals()) if (run === taken.run) answer(taken, asked.body, 'expired')
  await taken.durable()

  const database = new DatabaseSync(join(store.home, 'metier.db'), { timeout: 5000 })
  const read = () => database.prepare('SELECT * FROM approval ORDER BY approval').all()
  const kept = read()
  assert.ok(kept.length > 60, 'there is something to compare')
  rebuildApprovals(database)
  assert.deepEqual(kept, read(), `seed ${seed}`)
  database.close()
})

function askAndAnswer(chain: Chain, call: string, roll: () => number): void {
  chain.append('call.issued', {
    call,
    tool: 'a:b',
    args: {},
    effect: 'unsafe',
    effectFrom: 'default',
    definition: null,
  })
  const asked = { approval: newId(), call, digest: '0', why: '', expiresAt: '' }
  chain.append('approval.asked', asked)
  if (roll() < 0.2) chain.append('approval.asked', { ...asked, approval: newId() })
  const fate = Math.floor(roll() * 5)
  if (fate > 2) return
  if (fate < 2) answer(chain, asked, fate === 0 ? 'approved' : 'denied')
  chain.append('call.resolved', { call, attempt: 0, outcome: 'cancelled', ok: false, ms: 0, by: 'engine' })
}

function answer(chain: Chain, asked: EventBodies['approval.asked'], answer: 'approved' | 'denied' | 'expired'): void {
  const { approval, call, digest } = asked
  chain.append('approval.answered', { approval, call, digest, answer, who: 'me', from: 'here' })
}

test('approval() finds one by its id, with its call and what became of it', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  chain.append('call.issued', {
    call: '1',
    tool: 'a:pay',
    args: { sum: 5 },
    effect: 'unsafe',
    effectFrom: 'default',
    definition: null,
  })
  chain.append('run.logged', { lines: [] })
  const asked = { approval: 'q1', call: '1', digest: '0', why: 'it pays', expiresAt: '' }
  chain.append('approval.asked', asked)
  assert.equal(store.approval('q1'), undefined, 'not before it is durable')
  await chain.durable()
  const found = store.approval('q1')!
  assert.deepEqual([found.run, found.asked.body, found.issued.body.tool], [chain.run, asked, 'a:pay'])
  assert.deepEqual(store.openApprovals(), [found])
  answer(chain, asked, 'denied')
  await chain.durable()
  assert.equal(store.approval('q1')!.answer, 'denied')
  assert.deepEqual(store.openApprovals(), [])
  await chain.finish({ status: 'done', callCount: 1, ms: 1 })
  assert.equal(store.approval('q1'), undefined)
  assert.equal(store.approval('q2'), undefined)
})

test('runs() lists those of a status only; an interrupted one is told from a running one', async (t) => {
  const store = await openSample(t)
  const other = await openSample(t, { home: store.home })
  const done = await finishSample(store)
  const waiting = startSample(store)
  await waiting.suspend({ why: 'approval', calls: [] })
  const living = startSample(store)
  const dead = startSample(other)
  await Promise.all([living.durable(), dead.durable()])
  await other.close()
  const list = (...status: RunStatus[]) => store.runs({ status }).map(({ run }) => run)
  assert.deepEqual(list('done'), [done])
  assert.deepEqual(list('approval_required'), [waiting.run])
  assert.deepEqual(list('running'), [living.run])
  assert.deepEqual(list('interrupted'), [dead.run])
  assert.deepEqual(list('interrupted', 'running').length, 2)
  assert.equal(store.runs({ status: ['done', 'approval_required'], limit: 1 })[0]!.run, waiting.run)
})
