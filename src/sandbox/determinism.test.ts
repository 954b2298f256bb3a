/** The same results in the same order make the same program, byte for byte, in a fresh engine of another process. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Delivery, Program, Turn } from '#model'
import { type Answer, engine, type Open, play, startOptions } from './play.test.ts'
import { type Boxes, openBoxes } from './sandbox.ts'

const live = openBoxes({ engine })
const elsewhere = openBoxes(engine === 'v8' ? { engine } : { bwrap: null })
after(() => Promise.all([live.close(), elsewhere.close()]))

/** Every turn again, from the recorded deliveries, all handed over before the first turn is back. */
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

/** mulberry32: enough chance for a test, and the same on every machine. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides
  }
}

type Roll = (sides: number) => number

/** An expression that is a promise of something. */
function promise(roll: Roll, depth: number): string {
  const inner = () => promise(roll, depth - 1)
  const list = () => `[${Array.from({ length: 1 + roll(3) }, inner).join(', ')}]`
  const forms = [
    () => `mcp.s${roll(3)}.t${roll(3)}({ n: ${roll(100)}, chance: Math.random(), at: Date.now() })`,
    () => `sleep(${roll(50)})`,
    () => `tool('x:y', { id: crypto.randomUUID(), seen: out.length })`,
    () => `Promise.all(${list()})`,
    () => `Promise.race(${list()})`,
    () => `Promise.allSettled(${list()}).then((all) => all.map((one) => one.status))`,
    () => `Promise.any(${list()})`,
    () => `(async () => { ${block(roll, depth - 1)}\n return ${roll(9)} })()`,
    () => `${inner()}.then((v) => [v, ${roll(9)}], (e) => [e.code ?? e.name, out.length])`,
    () => `${inner()}.finally(() => { out.push('finally') })`,
    () => `new Promise((resolve) => setTimeout(() => { out.push('timer'); resolve(${inner()}) }, ${roll(20)}))`,
  ]
  return forms[depth > 0 ? roll(forms.length) : roll(3)]!()
}

function block(roll: Roll, depth: number): string {
  return Array.from({ length: 1 + roll(3) }, () => statement(roll, depth)).join('\n')
}

function statement(roll: Roll, depth: number): string {
  const one = () => promise(roll, depth)
  const more = () => block(roll, depth - 1)
  const forms = [
    () => `out.push(await ${one()})`,
    () => `try { out.push(await ${one()}) } catch (e) { out.push(e.code ?? e.name) } finally { out.push('after') }`,
    () => `loose.push(${one()}.catch((e) => e.name))`,
    () => `void ${one()}`,
    () => `for (let i = 0; i < ${1 + roll(3)}; i++) { out.push(i); ${depth > 0 ? more() : ''} }`,
    () => `if (Math.random() < 0.5) { ${depth > 0 ? more() : 'out.push(1)'} } else { out.push(Math.random()) }`,
    () => `for await (const v of (async function* () { yield 1; yield ${one()}; yield 2 })()) out.push(v)`,
    () => `for (const v of (function* () { for (let i = 0; i < 3; i++) yield i * 2 })()) out.push(v)`,
    () => `{ const id = setInterval(() => { out.push('tick'); clearInterval(id) }, ${roll(9)}); await sleep(1) }`,
    () => `console.log(out.length, new Date().toISOString())`,
    () => `if (out.length > ${30 + roll(30)}) throw new Error('enough ' + out.length)`,
    () => `queueMicrotask(() => { out.push('micro'); void mcp.micro.task({ n: out.length }) })`,
  ]
  return forms[roll(forms.length)]!()
}

function randomProgram(roll: Roll): string {
  const part = () => `try { ${block(roll, 3)}\n } catch (e) { out.push(e.code ?? e.name) }`
  return `const out = [], loose = []\n${part()}\n${part()}\n${block(roll, 2)}\nout.push(await Promise.all(loose))\nreturn out`
}

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
