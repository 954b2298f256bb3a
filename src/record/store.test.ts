/** The store: what it makes, who may write, what is durable when, and what it refuses. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  AppError,
  type ErrorCode,
  type Event,
  type Json,
  limits,
  newId,
  RawJson,
  type RecordedBody,
  type RunId,
} from '#model'
import { finishSample, keeper, openSample, startSample, temporaryFolder } from '#test'
import { openStore } from './store.ts'

const withCode = (code: ErrorCode) => (error: unknown) => error instanceof AppError && error.code === code

test('openStore() makes a home for its owner only, which git does not see', async (t) => {
  const { home, checkpoint } = await openSample(t)
  await checkpoint()
  for (const folder of ['.', 'blobs', 'artifacts', 'keys', 'processes']) {
    assert.equal(statSync(join(home, folder)).mode & 0o777, 0o700, folder)
  }
  assert.equal(readFileSync(join(home, '.gitignore'), 'utf8'), '*\n')
  assert.equal(statSync(join(home, 'metier.db')).mode & 0o777, 0o600)
})

test('openStore() refuses what it cannot trust, in plain words', async (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'file')
  writeFileSync(file, 'x')
  await assert.rejects(openStore({ home: file }), withCode('CONFIG_INVALID'))
  await assert.rejects(openStore({ home: join(folder, 'none'), create: false }), withCode('CONFIG_INVALID'))
  assert.equal(existsSync(join(folder, 'none')), false)
  await assert.rejects(openStore({ home: folder, create: false }), withCode('CONFIG_INVALID'))
  assert.equal(existsSync(join(folder, 'metier.db')), false)

  const garbage = join(folder, 'garbage')
  await (await openStore({ home: garbage })).close()
  writeFileSync(join(garbage, 'metier.db'), 'this is no database at all, but long enough to have a header'.repeat(20))
  await assert.rejects(openStore({ home: garbage }), withCode('LEDGER_BROKEN'))

  const foreign = join(folder, 'foreign')
  await (await openStore({ home: foreign })).close()
  writeFileSync(join(foreign, 'metier.db'), '')
  const database = new DatabaseSync(join(foreign, 'metier.db'))
  database.exec('CREATE TABLE cake (a)')
  database.close()
  await assert.rejects(openStore({ home: foreign }), /another program's database/)
})

test('a process that meets a newer format stops writing and says so', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  await chain.durable()
  const database = new DatabaseSync(join(store.home, 'metier.db'))
  database.exec('PRAGMA user_version = 5')
  chain.append('call.sent', { call: '1', attempt: 1 })
  await assert.rejects(chain.durable(), /its format is 5, and this metier knows 4. Update metier/)
  assert.throws(() => chain.append('call.sent', { call: '1', attempt: 2 }), withCode('CONFIG_INVALID'))
  await assert.rejects(openStore({ home: store.home }), withCode('CONFIG_INVALID'))
  database.exec('PRAGMA user_version = 4')
  database.close()
})

test('startRun() writes the row, run.started and run.opened as one, or nothing', async (t) => {
  const store = await openSample(t)
  const first = startSample(store, { key: 'k' })
  await first.durable()
  const second = startSample(store, { key: 'k' })
  second.append('call.sent', { call: '1', attempt: 1 })
  const refused = await second.durable().catch((error) => error)
  assert.equal(refused.code, 'INVALID_INPUT_PARAM')
  assert.equal(refused.context.param, 'key')
  assert.equal(refused.context.existing, first.run)
  assert.throws(() => second.append('call.sent', { call: '1', attempt: 2 }), refused)
  assert.deepEqual(store.events(second.run), [])
  assert.equal(store.runByKey('k'), first.run)
  assert.deepEqual(
    store.events('home').map(({ type, body }) => [type, body]),
    [['run.opened', { run: first.run }]],
  )
})

test('append() fixes place and time at once, and time never goes back', async (t) => {
  let now = 1763000000000
  const store = await openSample(t, { now: () => now })
  const chain = startSample(store)
  now += 5
  assert.deepEqual(chain.append('call.sent', { call: '1', attempt: 1 }), { n: 2, at: 1763000000005 })
  now -= 1000
  assert.deepEqual(chain.append('call.sent', { call: '1', attempt: 2 }), { n: 3, at: 1763000000005 })
  assert.equal(chain.lastAt(), 1763000000005)
  await chain.durable()
  const times = store.events(chain.run).map(({ n, at }) => [n, at])
  assert.deepEqual(times, [
    [1, '2025-11-13T02:13:20.000Z'],
    [2, '2025-11-13T02:13:20.005Z'],
    [3, '2025-11-13T02:13:20.005Z'],
  ])
})

test('told() gives what the store gives, where the run began here and is small; else nothing', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  chain.append('call.issued', {
    call: '1',
    tool: 'fx:say',
    args: new RawJson('{"b":1,"a":"\\u2028"}'),
    effect: 'read',
    effectFrom: null,
    definition: null,
  })
  const value = 'x'.repeat(limits.eventValueBytesMax)
  chain.append('call.resolved', { call: '1', attempt: 1, outcome: 'answered', ok: true, value, ms: 1, by: 'mock' })
  await chain.durable()
  assert.equal(chain.cachedEvents()?.length, 3)
  assert.deepEqual(chain.cachedEvents(), store.events(chain.run))

  const large = { lines: [{ level: 'log' as const, text: 'x'.repeat(limits.chainKeptCharactersMax / 4) }] }
  for (let i = 0; i < 4; i++) chain.append('run.logged', large)
  assert.equal(chain.cachedEvents(), null)
  await chain.suspend({ why: 'stopped', calls: [] })
  const taken = await store.takeRun(chain.run)
  assert.equal(taken.cachedEvents(), null)
})

test('events() reads what logs stand for, and told() leaves them to it where they are a blob', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  const lines = [{ level: 'log' as const, text: 'x'.repeat(limits.eventValueBytesMax) }]
  chain.append('run.logged', { lines })
  assert.equal(chain.cachedEvents(), null, 'the blob may not be on disk')
  assert.equal(chain.cachedEvents('run.started')?.length, 1)
  await chain.durable()
  assert.match(store.lines(chain.run)[1]!, /"body":\{"lines":\{"\$blob":"/)
  const [logged] = store.events(chain.run, { type: 'run.logged' }) as Event<'run.logged'>[]
  assert.deepEqual(logged!.body.lines, lines)
})

test('a member that may be a blob is no value, by type', async (t) => {
  const store = await openSample(t)
  const chain = store.events(await finishSample(store, 1, { deep: [1] }))
  const resolved = chain.find((event) => event.type === 'call.resolved')!
  // @ts-expect-error: it has to be opened
  const wrong: Json = resolved.body.value!
  // @ts-expect-error: it has no members
  assert.equal(resolved.body.value!.length, undefined)
  assert.ok(wrong)
  const right: Json = store.value(resolved.body.value!)
  assert.deepEqual(right, { deep: [1] })
})

test('durable() tells why the first write was refused, also to who wrote after it', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  await chain.durable()
  rmSync(join(store.home, 'blobs'), { recursive: true })
  writeFileSync(join(store.home, 'blobs'), 'no folder')
  chain.append('run.logged', { lines: [{ level: 'log', text: 'x'.repeat(limits.eventValueBytesMax) }] })
  const first = chain.durable()
  first.catch(() => {})
  await Promise.resolve()
  chain.append('run.logged', { lines: [{ level: 'log', text: 'later' }] })
  const refused = await chain.durable().catch((error) => error)
  assert.ok(refused instanceof AppError)
  assert.equal(refused.code, 'CONFIG_INVALID', 'and not that another process owns the run')
  await assert.rejects(first, { code: refused.code })
})

test('durable() with nothing new to write is fulfilled', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  await chain.durable()
  await chain.durable()
  await pause(0)
  await chain.durable()
  assert.equal(store.events(chain.run).length, 1)
})

test('what nobody waits for is committed all the same, soon', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  await chain.durable()
  chain.append('call.sent', { call: '1', attempt: 1 })
  assert.equal(store.events(chain.run).length, 1)
  await pause(limits.commitDelayMsMax + 150)
  assert.equal(store.events(chain.run).length, 2)
})

test('events appended before one durable() share one commit', async (t) => {
  const store = await openSample(t)
  const chains = [startSample(store), startSample(store), startSample(store)]
  await Promise.all(chains.map((chain) => chain.durable()))
  const reader = new DatabaseSync(join(store.home, 'metier.db'), { readOnly: true })
  const version = () => reader.prepare('PRAGMA data_version').get()!.data_version as number
  const before = version()
  for (const chain of chains) for (let i = 1; i < 50; i++) chain.append('call.sent', { call: '1', attempt: i })
  await Promise.all(chains.map((chain) => chain.durable()))
  assert.equal(version() - before, 1)
  reader.close()
})

test('the log stays short however much is written', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  for (let round = 0; round < 30; round++) {
    for (let i = 0; i < 100; i++) chain.append('run.logged', { lines: [{ level: 'log', text: 'x'.repeat(5000) }] })
    await chain.durable()
  }
  const pageBytes = 4096
  assert.ok(statSync(join(store.home, 'metier.db-wal')).size < 2 * limits.storeLogPagesMax * pageBytes)
})

test('events() reads by number and by type, and eventsSince() in the order of arrival', async (t) => {
  const store = await openSample(t)
  const run = await finishSample(store, 2)
  assert.deepEqual(
    store.events(run, { after: 6 }).map(({ n, type }) => [n, type]),
    [
      [7, 'call.resolved'],
      [8, 'run.finished'],
    ],
  )
  assert.deepEqual(
    store.events(run, { type: 'call.sent' }).map(({ n }) => n),
    [3, 6],
  )
  const page = store.eventsSince(0, 4)
  assert.deepEqual(
    page.map(({ line }) => JSON.parse(line).type),
    ['run.opened', 'run.started', 'call.issued', 'call.sent'],
  )
  const rest = store.eventsSince(page.at(-1)!.seq, 100)
  const { bytes, ...stats } = store.stats()
  assert.deepEqual(stats, { events: page.length + rest.length, runs: { done: 1 }, calls: 2 })
  assert.ok(bytes > 0)
  assert.equal(JSON.parse(rest.at(-1)!.line).type, 'run.closed')
})

test('text() gives the exact text of a value back, also of one that stands as a blob', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  const large = `{"n":1.50,"s":"${'é'.repeat(60_000)}"}`
  const forged = { $blob: '0'.repeat(64), bytes: 3 }
  for (const value of [new RawJson(large), forged, { a: [1, null] }]) {
    chain.append('call.resolved', { call: '1', attempt: 1, outcome: 'answered', ok: true, value, ms: 1, by: 'mock' })
  }
  await chain.durable()
  const values = store
    .events(chain.run, { type: 'call.resolved' })
    .map(({ body }) => (body as RecordedBody<'call.resolved'>).value!)
  assert.equal(store.text(values[0]!), large)
  assert.deepEqual(store.value(values[1]!), forged)
  assert.equal(store.text(values[2]!), '{"a":[1,null]}')
})

test('takeRun() says why it cannot', async (t) => {
  const store = await openSample(t)
  const other = await openSample(t, { home: store.home })
  const owned = startSample(store)
  await owned.durable()
  await assert.rejects(other.takeRun(newId<RunId>()), withCode('RUN_NOT_FOUND'))
  await assert.rejects(other.takeRun('home' as RunId), withCode('RUN_NOT_FOUND'))
  await assert.rejects(other.takeRun(owned.run), withCode('RUN_OWNED'))
  const finished = await finishSample(store)
  await assert.rejects(other.takeRun(finished), /it is finished/)
  await store.purge(finished, keeper)
  await assert.rejects(other.takeRun(finished), withCode('RUN_PURGED'))
})

test('takeRun() raises the epoch, and whoever had the run before can write no more', async (t) => {
  const store = await openSample(t)
  const old = startSample(store)
  await old.durable()
  const taken = await store.takeRun(old.run)
  assert.equal(taken.epoch, 2)
  old.append('call.sent', { call: '1', attempt: 1 })
  const refused = await old.durable().catch((error) => error)
  assert.equal(refused.code, 'RUN_OWNED')
  assert.throws(() => old.append('call.sent', { call: '1', attempt: 2 }), refused)
  await assert.rejects(old.durable(), refused)
  taken.append('call.sent', { call: '2', attempt: 1 })
  await taken.durable()
  assert.deepEqual(
    store.events(old.run, { after: 1 }).map(({ body }) => body),
    [{ call: '2', attempt: 1 }],
  )
})

test('of several that take a run without an owner, one gets it', async (t) => {
  const store = await openSample(t)
  const others = [await openSample(t, { home: store.home }), await openSample(t, { home: store.home })]
  const chain = startSample(store)
  await chain.suspend({ why: 'approval', calls: ['1'] })
  const outcomes = await Promise.allSettled(others.map((other) => other.takeRun(chain.run)))
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal(store.run(chain.run)!.epoch, 2)
})

test('suspend() gives the run up with its status, and it can be taken again', async (t) => {
  const store = await openSample(t)
  const statuses = { approval: 'approval_required', uncertain: 'uncertain', stopped: 'interrupted' } as const
  for (const [why, status] of Object.entries(statuses)) {
    const chain = startSample(store)
    await chain.suspend({ why: why as 'approval', calls: [] })
    const row = store.run(chain.run)!
    assert.deepEqual([row.status, row.owner], [status, null])
    assert.throws(() => chain.append('call.sent', { call: '1', attempt: 1 }), { name: 'AssertionError' })
    const again = await store.takeRun(chain.run)
    assert.deepEqual([store.run(chain.run)!.status, again.epoch], ['running', 2])
  }
})

test('finish() closes the run in the home, and nothing of it waits any more', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  chain.seal('«secret:1»', 'hunter2!', 'a')
  await chain.durable()
  await store.send(chain.run, 'cancel.asked', { who: 'me', from: 'here' })
  await chain.finish({ status: 'failed', callCount: 3, ms: 1 })
  const row = store.run(chain.run)!
  assert.deepEqual([row.status, row.owner, row.callCount, row.count], ['failed', null, 3, 2])
  const { body } = store.events('home', { type: 'run.closed' })[0]!
  assert.deepEqual(body, { run: chain.run, head: row.head, count: 2 })
  const database = new DatabaseSync(join(store.home, 'metier.db'), { readOnly: true })
  const left = database.prepare('SELECT (SELECT count(*) FROM sealed) + (SELECT count(*) FROM inbox) AS left').get()
  assert.equal(left!.left, 0)
  database.close()
  await assert.rejects(store.send(chain.run, 'cancel.asked', { who: 'me', from: 'here' }), /it is finished/)
  await assert.rejects(
    store.send(newId<RunId>(), 'cancel.asked', { who: 'me', from: 'here' }),
    withCode('RUN_NOT_FOUND'),
  )
})

test('what another process sends reaches the owner within 100 ms, and the chain exactly once', async (t) => {
  const store = await openSample(t)
  const other = await openSample(t, { home: store.home })
  const chain = startSample(store)
  await chain.durable()
  const delays: number[] = []
  for (let round = 0; round < 5; round++) {
    const arrived = Promise.withResolvers<void>()
    let calls = 0
    const stop = chain.onInbox(() => {
      calls += 1
      arrived.resolve()
    })
    await other.send(chain.run, 'call.settled', { call: '1', how: 'done', value: 5, who: 'me', from: 'there' })
    const sent = performance.now()
    await arrived.promise
    delays.push(performance.now() - sent)
    await store.appendHome('tool.pinned', { tool: 'a:b', digest: '0', diff: [] })
    await pause(2 * limits.foreignPollMs)
    assert.equal(calls, 1, 'told once, whatever else is written')
    stop()
    if (round < 4) for (const { id } of chain.inbox()) chain.takeFromInbox(id)
    await chain.durable()
  }
  assert.ok(delays.sort((a, b) => a - b)[2]! < 100, `took ${delays.map(Math.round)} ms`)
  const [item] = chain.inbox()
  assert.deepEqual(item, {
    id: 5,
    type: 'call.settled',
    body: { call: '1', how: 'done', value: 5, who: 'me', from: 'there' },
  })
  chain.takeFromInbox(item!.id)
  assert.deepEqual(chain.inbox(), [])
  chain.append('call.settled', item!.body as never)
  const taken = await store.takeRun(chain.run)
  assert.equal(taken.inbox().length, 1, 'not yet durable, so it is still there for whoever comes next')
  await assert.rejects(chain.durable(), withCode('RUN_OWNED'))
  taken.append('call.settled', item!.body as never)
  taken.takeFromInbox(item!.id)
  await taken.durable()
  assert.deepEqual((await store.takeRun(chain.run)).inbox(), [])
  assert.equal(store.events(chain.run, { type: 'call.settled' }).length, 1)
})

test('runs() lists newest first; a run whose process is gone is interrupted', async (t) => {
  let now = 1763000000000
  const store = await openSample(t, { now: () => now++ })
  const first = await finishSample(store)
  const second = startSample(store, { intent: null })
  await second.durable()
  const rows = store.runs()
  assert.deepEqual(
    rows.map(({ run, status, intent, callCount }) => ({ run, status, intent, callCount })),
    [
      { run: second.run, status: 'running', intent: null, callCount: 0 },
      { run: first, status: 'done', intent: 'count the sheep', callCount: 1 },
    ],
  )
  assert.equal(rows[1]!.startedAt, '2025-11-13T02:13:20.000Z')
  assert.equal(store.runs({ limit: 1 }).length, 1)
  const other = await openSample(t, { home: store.home })
  assert.equal(other.run(second.run)!.status, 'running')
  await store.close()
  assert.equal(other.run(second.run)!.status, 'interrupted')
  const taken = await other.takeRun(second.run)
  assert.equal(taken.epoch, 2)
})

test('onChange() tells of what another process wrote', async (t) => {
  const store = await openSample(t)
  const other = await openSample(t, { home: store.home })
  const seen = Promise.withResolvers<void>()
  const stop = store.onChange(seen.resolve)
  await other.appendHome('tool.pinned', { tool: 'a:b', digest: '00', diff: [] })
  await seen.promise
  stop()
  assert.equal(store.events('home', { type: 'tool.pinned' }).length, 1)
})

test('close() writes what is buffered, signs a checkpoint and leaves no lock, no log and no blank file', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  chain.append('call.sent', { call: '1', attempt: 1 })
  await store.close()
  assert.deepEqual(readdirSync(join(store.home, 'processes')), [])
  assert.deepEqual(
    readdirSync(store.home).filter((name) => name.startsWith('metier.db')),
    ['metier.db'],
  )
  const again = await openSample(t, { home: store.home })
  assert.equal(again.events(chain.run).length, 2)
  assert.deepEqual(
    again.events('home').map(({ type }) => type),
    ['run.opened', 'ledger.checkpointed'],
  )
})

test('a store that was closed refuses everything, and can be closed again', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store)
  await store.close()
  await assert.rejects(store.appendHome('tool.pinned', { tool: 'a:b', digest: '0', diff: [] }), /the store was closed/)
  chain.append('call.sent', { call: '1', attempt: 1 })
  await assert.rejects(chain.durable(), /the store was closed/)
  chain.onInbox(() => {})
  await store.close()
})

test('a store that only read leaves the home as it was', async (t) => {
  const store = await openSample(t)
  await finishSample(store)
  await store.close()
  const reader = await openStore({ home: store.home })
  const { events } = reader.stats()
  await reader.close()
  const again = await openSample(t, { home: store.home })
  assert.equal(again.stats().events, events)
})

test('three stores on one home write at once, and every event is there', async (t) => {
  const first = await openSample(t)
  const stores = [first, await openSample(t, { home: first.home }), await openSample(t, { home: first.home })]
  const runs = await Promise.all(stores.flatMap((store) => [finishSample(store, 10), finishSample(store, 10)]))
  for (const run of runs) assert.equal(first.events(run).length, 32)
  assert.equal(first.events('home', { type: 'run.closed' }).length, 6)
})
