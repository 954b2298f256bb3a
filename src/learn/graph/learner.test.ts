/** What is learned is a function of the record: however it was folded, the digest is the same. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { openLearner } from '#learn'
import type { EventBodies } from '#model'
import { homePaths, type Store } from '#record'
import { closeSample, keeper, openSample, teach } from '#test'

const code = (source: string) => ({ plan: { kind: 'code', source, digest: source } as const })

async function fill(store: Store, runs: number): Promise<string[]> {
  const made: string[] = []
  for (let i = 0; i < runs; i++) {
    const value = { id: `order-${i}`, total: i }
    const calls = [
      { tool: 'shop:find', args: { day: `2026-01-${i}` }, value },
      {
        tool: 'shop:refund',
        args: { id: `order-${i}` },
        ...(i % 3 === 2 ? { code: 'CALL_TIMEOUT' } : { value: true }),
      },
    ]
    const source = `const found = await mcp.shop.find({ day: '2026-01-${i}' }); return mcp.shop.refund({ id: found.id })`
    made.push(await closeSample(store, calls, { intent: `refund the order of day ${i}`, ...code(source) }))
  }
  return made
}

test('openLearner() has one digest however the record was folded', async (t) => {
  const store = await openSample(t)
  const once = openLearner({ store, enabled: true, file: join(store.home, 'once.db') })
  const steps = openLearner({ store, enabled: true, file: join(store.home, 'steps.db') })
  for (let i = 0; i < 5; i++) {
    await fill(store, 3)
    await steps.catchUp()
  }
  await once.catchUp()
  const { digest, n, of } = once.status()
  assert.equal(n, of)
  assert.equal(steps.status().digest, digest)
  await once.rebuild()
  assert.equal(once.status().digest, digest)
  await fill(store, 1)
  await once.catchUp()
  assert.notEqual(once.status().digest, digest)
  await Promise.all([once.close(), steps.close()])
})

test('Learner: runs, tools and shapes are known, and a failed call teaches no capability in a graph', async (t) => {
  const store = await openSample(t)
  const learner = openLearner({ store, enabled: true })
  await fill(store, 6)
  await closeSample(store, [{ tool: 'shop:find', args: {} }], { mode: 'dry-run' })
  await closeSample(store, [{ tool: 'shop:find', args: {}, code: 'CALL_TIMEOUT' }], { intent: null }, 'failed')
  await learner.catchUp()
  const known = learner.knowledge()
  assert.deepEqual(
    known.runs.map(({ teaches, status, tools }) => [teaches, status, tools.length]),
    [...Array(6).fill(['capability', 'done', 2]), ['rates', 'failed', 1]],
  )
  const stats = known.tool('shop:refund')!
  assert.deepEqual([stats.runs, stats.calls, stats.successes, stats.codes], [6, 6, 4, { CALL_TIMEOUT: 2 }])
  assert.deepEqual(stats.positions, { first: 0, middle: 0, last: 6 })
  assert.deepEqual(stats.with, { 'shop:find': 6 })
  const [shape, ...others] = known.shapes()
  assert.equal(others.length, 0)
  assert.deepEqual(
    shape!.runs.map(({ literals }) => literals),
    Array.from({ length: 6 }, (_, i) => [`2026-01-${i}`]),
  )
  assert.equal(known.examplesOf('shop:find').length, 2)
  assert.deepEqual(
    known.edges().map(({ from, to, type, source, count, fields }) => [from, to, type, source, count, fields]),
    [
      ['shop:find', 'shop:refund', 'dependency', 'observed', 6, [{ from: '/id', to: '/id', count: 6 }]],
      ['shop:find', 'shop:refund', 'sequence', 'observed', 6, undefined],
    ],
  )
  await learner.close()
})

test('Learner: what one subject did is never in the shape of another', async (t) => {
  const store = await openSample(t)
  const learner = openLearner({ store, enabled: true })
  for (const subject of ['ada', 'bob', 'ada']) {
    const actor = { kind: 'mcp', name: `${subject} (host)`, subject } as const
    await closeSample(store, [{ tool: 'a:b', args: {} }], { actor, ...code('return mcp.a.b({})') })
  }
  await learner.catchUp()
  const shapes = learner.knowledge().shapes()
  assert.deepEqual(shapes.map(({ subject, count }) => [subject, count]).sort(), [
    ['ada', 2],
    ['bob', 1],
  ])
  await learner.close()
})

test('Learner: a capability is what the home chain says of it', async (t) => {
  const store = await openSample(t)
  const learner = openLearner({ store, enabled: true })
  const [run] = await fill(store, 1)
  const learned: EventBodies['capability.learned'] = {
    capability: 'refund_order',
    version: 1,
    intent: 'refund an order',
    subject: null,
    source: { type: 'code', code: 'return 1' },
    digest: 'd',
    shape: 's',
    parametersSchema: {},
    tools: { 'shop:find': 'one' },
    effect: 'read',
    servers: ['shop'],
    runs: [run!],
  }
  const status = async () => {
    await learner.catchUp()
    return learner.knowledge().capability('refund_order')?.status
  }
  const human = { who: 'ada', from: 'cli', why: 'no' }
  await store.appendHome('capability.learned', learned)
  await store.appendHome('capability.learned', { ...learned, intent: 'another' })
  assert.equal(await status(), 'candidate')
  assert.equal(learner.knowledge().capability('refund_order')!.intent, 'refund an order')
  const verified = { capability: 'refund_order', version: 1, how: ['rehearsed' as const], runs: [run!] }
  await store.appendHome('capability.verified', { ...verified, digest: 'other', tools: learned.tools })
  assert.equal(await status(), 'candidate')
  await store.appendHome('capability.verified', { ...verified, digest: 'd', tools: learned.tools })
  assert.equal(await status(), 'verified')
  await store.appendHome('tool.changed', { tool: 'shop:find', digest: 'two', diff: [] })
  assert.equal(await status(), 'stale')
  await store.appendHome('capability.verified', { ...verified, digest: 'd', tools: { 'shop:find': 'two' } })
  await store.appendHome('capability.changed', { capability: 'refund_order', status: 'disabled', ...human })
  assert.equal(await status(), 'disabled')
  await store.appendHome('capability.changed', { capability: 'refund_order', status: 'enabled', ...human })
  assert.equal(await status(), 'verified')
  await learner.beforePurge()
  await store.purge(run! as never, keeper)
  assert.equal(await status(), 'stale')
  await store.appendHome('capability.changed', { capability: 'refund_order', status: 'forgotten', ...human })
  assert.equal(await status(), undefined)
  await learner.close()
})

test('Learner: nothing goes that was not folded, while another process holds the file', async (t) => {
  const store = await openSample(t)
  const learner = openLearner({ store, enabled: true })
  await fill(store, 1)
  const other = new DatabaseSync(homePaths(store.home).learn)
  other.exec('BEGIN IMMEDIATE')
  await assert.rejects(learner.beforePurge(), /Cannot purge: what the runs taught is being folded/)
  other.close()
  await learner.beforePurge()
  assert.equal(learner.status().n, learner.status().of - 1)
  await learner.close()
})

test('Learner: a capability of a file is stale when the run goes that it was verified by', async (t) => {
  const store = await openSample(t)
  const learner = openLearner({ store, enabled: true })
  const [run] = await fill(store, 1)
  const digest = await teach(store, 'refund_order', 'return 1', { isVerified: false, imported: true })
  const by = { how: ['rehearsed' as const], runs: [run!] }
  await store.appendHome('capability.verified', { capability: 'refund_order', version: 1, digest, tools: {}, ...by })
  await learner.beforePurge()
  assert.equal(learner.knowledge().capability('refund_order')!.status, 'verified')
  await store.purge(run! as never, keeper)
  await learner.catchUp()
  const { status, verifiedBy } = learner.knowledge().capability('refund_order')!
  assert.deepEqual([status, verifiedBy!.runs], ['stale', []])
  await learner.close()
})

test('Learner: what was purged is learned from no more, and what it taught stays', async (t) => {
  const store = await openSample(t)
  const learner = openLearner({ store, enabled: true })
  const runs = await fill(store, 4)
  await learner.beforePurge()
  for (const run of runs.slice(0, 2)) await store.purge(run as never, { who: 'retention', from: 'engine' })
  await fill(store, 2)
  await learner.beforePurge()
  await store.purge(runs[2] as never, keeper)
  await fill(store, 1)
  await learner.catchUp()
  const { digest } = learner.status()
  assert.equal(learner.knowledge().tool('shop:find')!.runs, 7)
  assert.equal(learner.knowledge().runs.length, 6)
  await learner.rebuild()
  assert.equal(learner.status().digest, digest)
  await learner.close()
})

test('Learner: what a human purged is in no row, and does not come back when all is made again', async (t) => {
  const store = await openSample(t)
  const learner = openLearner({ store, enabled: true })
  const source = (key: string) => `return mcp.shop.find({ key: '${key}' }) // ${key}`
  const find = (key: string) =>
    closeSample(store, [{ tool: 'shop:find', args: { key }, value: { was: key } }], {
      intent: `find ${key}`,
      ...code(source(key)),
    })
  const texts = () => {
    const file = new DatabaseSync(homePaths(store.home).learn, { readOnly: true })
    const rows = file.prepare('SELECT kind, key, value FROM row').all()
    file.close()
    return rows.map((row) => JSON.stringify(row))
  }
  const purge = async (run: string, by = keeper) => {
    await learner.beforePurge()
    await store.purge(run as never, by)
    await learner.catchUp()
  }
  const [first, second] = [await find('quince'), await find('medlar')]
  await purge(second, { who: 'retention', from: 'engine' })
  const third = await find('sorb')
  const alone = await closeSample(store, [{ tool: 'shop:count', args: { key: 'quince' } }], {
    intent: 'count quince',
    ...code(`return mcp.shop.count({ key: 'quince' })`),
  })
  await purge(alone)
  await purge(first)
  await find('damson')
  await purge(third)
  const { digest } = learner.status()
  const isFree = () =>
    assert.deepEqual(
      texts().filter((text) => /quince|sorb/.test(text)),
      [],
    )
  isFree()
  await learner.rebuild()
  assert.equal(learner.status().digest, digest)
  isFree()
  await learner.close()
})

test('openLearner() makes a damaged or newer file anew, and folds nothing where it is switched off', async (t) => {
  const store = await openSample(t)
  await fill(store, 3)
  const file = homePaths(store.home).learn
  const lines: string[] = []
  const open = async (enabled = true) => {
    const learner = openLearner({ store, enabled, log: (line) => lines.push(line) })
    await learner.catchUp()
    const status = learner.status()
    await learner.close()
    return status
  }
  assert.equal((await open(false)).n, 0)
  const { digest } = await open()
  writeFileSync(file, 'no database at all, but long enough to be taken for one by nobody')
  assert.equal((await open()).digest, digest)
  const newer = new DatabaseSync(file)
  newer.exec('PRAGMA user_version = 99')
  newer.close()
  assert.equal((await open()).digest, digest)
  assert.deepEqual(
    lines.map((line) => /version 99|cannot be read/.exec(line)?.[0]),
    ['cannot be read', 'version 99'],
  )
})
