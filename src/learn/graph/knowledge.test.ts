/** What is known follows the rows by what changed alone, and is the same as if all were read. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { closeSample, keeper, openSample, temporaryFolder } from '#test'
import { keyOf, openKnowledge } from './knowledge.ts'
import { openLearner } from './learner.ts'
import { openPastRuns } from './past-runs.ts'
import { Rows } from './rows.ts'

/** Numerical Recipes' generator: the same numbers for the same seed. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function openRows(file: string) {
  const rows = new Rows(file)
  let seq = 0
  const step = (work: (n: number) => void) =>
    rows.advance((_, at) => {
      at(++seq)
      work(seq)
      return { seq, n: seq, hash: String(seq) }
    })
  return { rows, step }
}

const runRow = (n: number) => ({ n, at: '', intent: `do ${n}`, subject: null, status: 'done', tools: ['a:b'], ms: 1 })

test('openKnowledge() knows the same when it followed a random stream of rows as when it reads them all', (t) => {
  const seed = 17
  const number = numbersFrom(seed)
  const { rows, step } = openRows(join(temporaryFolder(t), 'learn.db'))
  const followed = openKnowledge(rows)
  for (let at = 0; at < 300; at++) {
    step((n) => {
      const what = number(6)
      const version = 1 + number(3)
      const capability = { name: `c${number(4)}`, version, status: number(3) === 0 ? 'forgotten' : 'verified' }
      if (what <= 2) rows.put('run', `r${n}`, runRow(n))
      else if (what === 3) rows.remove('run', `r${number(n)}`)
      else if (what === 4) rows.put('capability', `${capability.name}@${version}`, capability)
      else rows.put('use', keyOf(`c${number(4)}@${version}`, `r${number(n)}`, ''), { at: '', success: number(2) === 0 })
      if (number(4) === 0) rows.put('shape', `s${number(5)}`, { count: n, runs: [] })
    })
    if (number(3) > 0) continue
    const [one, other] = [followed(), openKnowledge(rows)()]
    assert.deepEqual(one.runs, other.runs, `seed ${seed}, step ${at}`)
    const byKey = (left: { name: string; version: number }, right: typeof left) =>
      left.name < right.name ? -1 : left.name > right.name ? 1 : left.version - right.version
    assert.deepEqual([...one.capabilities()].sort(byKey), [...other.capabilities()].sort(byKey))
    for (const name of ['c0', 'c1', 'c2', 'c3']) {
      const usesOf = (known: typeof one, version?: number) =>
        known.usesOf(name, version).sort((left, right) => (left.run < right.run ? -1 : 1))
      assert.deepEqual(usesOf(one), usesOf(other))
      const uses = usesOf(other, 1)
      const counts = { runs: uses.length, successes: uses.filter(({ success }) => success).length }
      assert.deepEqual([one.useCounts(name, 1), other.useCounts(name, 1)], [counts, counts])
    }
    const digests = (known: typeof one) => known.shapes().map(({ digest, count }) => [digest, count])
    assert.deepEqual(digests(one).sort(), digests(other).sort())
    for (const { digest } of other.shapes()) assert.deepEqual(one.shape(digest), other.shape(digest))
    for (const { run } of other.runs) assert.deepEqual(one.run(run), other.run(run))
  }
  rows.close()
})

test('openKnowledge() makes none of the runs that it knows when one more is closed', (t) => {
  const { rows, step } = openRows(join(temporaryFolder(t), 'learn.db'))
  const followed = openKnowledge(rows)
  for (let at = 0; at < 3; at++) step((n) => rows.put('run', `r${n}`, runRow(n)))
  step(() => rows.put('capability', 'c@1', { name: 'c', version: 1, status: 'verified' }))
  const before = followed()
  step((n) => rows.put('run', `r${n}`, runRow(n)))
  const after = followed()
  assert.deepEqual([before.runs.length, after.runs.length, after.removals], [3, 4, before.removals])
  for (const [at, run] of before.runs.entries()) assert.equal(after.runs[at], run)
  assert.equal(after.capabilities(), before.capabilities())
  step(() => rows.remove('run', 'r2'))
  assert.notEqual(followed().removals, before.removals)
  rows.close()
})

test('openPastRuns() keeps the newest, and lets go of the others also by their names', () => {
  const past = openPastRuns(3)
  for (const n of [1, 2, 3, 4, 5]) past.apply([{ key: `r${n}`, value: runRow(n) }])
  const names = () => past.list().map(({ run }) => run)
  assert.deepEqual([names(), past.get('r2'), past.get('r3')?.n], [['r3', 'r4', 'r5'], undefined, 3])
  past.apply([
    { key: 'r6', value: runRow(2) },
    { key: 'r4', value: null },
  ])
  assert.deepEqual(names(), ['r6', 'r3', 'r5'], 'in the order in which they were closed')
})

test('openKnowledge() takes in what was folded since, and is what one has that reads it all', async (t) => {
  const store = await openSample(t)
  const file = join(store.home, 'watched.db')
  const learner = openLearner({ store, enabled: true, file })
  const work = async (runs: number) => {
    const closed = []
    for (let i = 0; i < runs; i++)
      closed.push(await closeSample(store, [{ tool: 'a:b', args: {} }], { intent: `count ${i}` }))
    await learner.catchUp()
    return closed
  }
  const isWhole = () => {
    const rows = new Rows(file)
    const { runs } = openKnowledge(rows)()
    assert.deepEqual(learner.knowledge().runs, runs)
    assert.deepEqual(
      runs.map(({ n }) => n),
      runs.map(({ n }) => n).sort((left, right) => left - right),
    )
    rows.close()
    return runs.map(({ run }) => run)
  }
  const first = await work(3)
  const before = learner.knowledge()
  assert.deepEqual(isWhole(), first)
  const second = await work(2)
  assert.deepEqual(isWhole(), [...first, ...second])
  assert.equal(learner.knowledge().runs[0], before.runs[0], 'what was known is not made again')
  await learner.beforePurge()
  await store.purge(first[1]!, keeper)
  const third = await work(1)
  assert.deepEqual(isWhole(), [first[0], first[2], ...second, ...third])
  assert.equal(before.runs.length, 3)
  await learner.rebuild()
  assert.deepEqual(isWhole(), [first[0], first[2], ...second, ...third])
  await learner.close()
})
