/**
 * The same results in the same order make the same program, byte for byte, in a fresh engine of
 * another process.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Delivery, Program, Turn } from '#model'
import { type Answer, engine, type Open, play, startOptions } from './play.test.ts'
import { dice, randomProgram } from './random-programs.test.ts'
import { type Boxes, openBoxes } from './sandbox.ts'

const live = openBoxes({ engine })
const elsewhere = openBoxes(engine === 'v8' ? { engine } : { bwrap: null })
after(() => Promise.all([live.close(), elsewhere.close()]))

/**
 * Every turn again, from the recorded deliveries, all handed over before the first turn is back.
 */
async function replay(boxes: Boxes, code: string, deliveries: Delivery[]): Promise<Turn[]> {
  const program: Program = await boxes.program(startOptions(code))
  const turns = [program.start(), ...deliveries.map((delivery) => program.deliver(delivery))]
  const done = await Promise.all(turns)
  program.drop()
  return done
}

test('each delivery is drained before the next, however many wait', async () => {
  const code = `const seen = []
    const branch = async (name) => {
      await mcp.first[name]()
      for (let i = 0; i < 3; i++) { seen.push(name + i); await null }
      await Promise.resolve().then(() => {}).then(() => mcp.second[name]({ seen: seen.length }))
    }
    await Promise.all(['a', 'b', 'c'].map(branch))
    return seen`
  const order = [1, 2, 3, 4, 5, 6].map((call, i) => ({ call, ok: true, text: '{}', now: i }))
  const turns = await replay(live, code, order)
  assert.deepEqual(
    turns.map(({ calls }) => calls.map(({ tool, args }) => `${tool} ${args}`)),
    [
      ['first:a {}', 'first:b {}', 'first:c {}'],
      ['second:a {"seen":3}'],
      ['second:b {"seen":6}'],
      ['second:c {"seen":9}'],
      [],
      [],
      [],
    ],
  )
  assert.deepEqual(turns.at(-1)?.end, { ok: true, value: '["a0","a1","a2","b0","b1","b2","c0","c1","c2"]' })
})

test('what is delivered after the end, or to no open call, changes nothing', async () => {
  const code = `const first = mcp.a.b(); mcp.c.d().then(() => console.log('too late')); await first; return 1`
  const [start, end, late] = await replay(live, code, [
    { call: 1, ok: true, text: '1', now: 1 },
    { call: 2, ok: true, text: '1', now: 2 },
  ])
  assert.equal(start?.calls.length, 2)
  assert.deepEqual(end?.end, { ok: true, value: '1' })
  assert.deepEqual(late, { calls: [], logs: [] })
  const unknown = await replay(live, 'await mcp.a.b(); return 1', [
    { call: 7, ok: true, text: '1', now: 1 },
    { call: 1, ok: true, text: '1', now: 2 },
  ])
  assert.deepEqual(unknown.slice(1), [
    { calls: [], logs: [] },
    { calls: [], logs: [], end: { ok: true, value: '1' } },
  ])
})

test('a random program replays to the same turns, in another process, from its deliveries alone', async () => {
  let calls = 0
  for (let seed = 1; seed <= 40; seed += 1) {
    const roll = dice(seed)
    const code = randomProgram(roll)
    const answer = ({ args }: Open): Answer =>
      roll(6) === 0 ? { ok: false, code: 'TOOL_ERROR', message: 'no' } : { ok: true, value: JSON.parse(args) }
    const { turns, deliveries } = await play(live, code, { answer, next: (open) => roll(open.length) })
    const again = await replay(elsewhere, code, deliveries)
    assert.equal(JSON.stringify(again), JSON.stringify(turns), `seed ${seed}:\n${code}`)
    calls += turns.reduce((sum, turn) => sum + turn.calls.length, 0)
  }
  assert(calls > 400, `only ${calls} calls were made`)
})

test('another order of the same results may be another program', async () => {
  const code = `const order = []; await Promise.all([1, 2].map((n) => mcp.a.b({ n }).then(() => order.push(n)))); return order`
  const one = await play(live, code, { next: () => 0 })
  const other = await play(live, code, { next: (open) => open.length - 1 })
  assert.deepEqual(
    [one.end, other.end],
    [
      { ok: true, value: '[1,2]' },
      { ok: true, value: '[2,1]' },
    ],
  )
})
