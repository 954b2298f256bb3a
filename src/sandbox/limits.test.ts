/**
 * Running out of anything ends a program, whatever it catches, and never the process that started
 * it.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { limits } from '#model'
import { errorOf, play, resultOf, startOptions } from './play.test.ts'
import { openBoxes } from './sandbox.ts'

const boxes = openBoxes()
after(() => boxes.close())

/** Some milliseconds of work; the usual bound is for programs that mean it. */
const narrow = { limits: { ticksPerTurnMax: 50 } }

type Bomb = { code: string; limit: string }

/** The bombs of the survey that must end; the two of it that must not are below. */
const bombs: Record<string, Bomb> = {
  loop: { code: 'while (true) {}', limit: 'ticks' },
  'loop of microtasks': { code: 'for (;;) await null', limit: 'ticks' },
  'chain of microtasks': {
    code: 'await new Promise(() => (function again() { queueMicrotask(again) })())',
    limit: 'ticks',
  },
  arrays: { code: 'const a = []; while (true) a.push(new Array(100000).fill(1))', limit: 'memory' },
  buffers: { code: 'const a = []; while (true) a.push(new Uint8Array(10000000).fill(1))', limit: 'memory' },
  strings: {
    code: `let s = 'x'.repeat(1e6); const a = []; while (true) { a.push(s += s.slice(0, 1e6)); a.push(s.split('').join('y')) }`,
    limit: 'memory',
  },
  'one long string': { code: `'x'.repeat(2 ** 29)`, limit: 'memory' },
  'a doubled string': { code: `let s = 'x'; for (;;) { s += s; s.indexOf('y') }`, limit: 'memory' },
  'a padded string': { code: `'x'.padEnd(2 ** 28)`, limit: 'memory' },
  'a regular expression': { code: `/^(a+)+$/.test('a'.repeat(60) + 'b')`, limit: 'ticks' },
  recursion: { code: '(function f() { return f() + 1 })()', limit: 'stack' },
  'mutual recursion': { code: 'const f = (n) => g(n + 1), g = (n) => f(n + 1); f(0)', limit: 'stack' },
  'recursion of getters': { code: 'const o = { get x() { return this.x } }; o.x', limit: 'stack' },
  'recursion of toJSON': {
    code: 'const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)',
    limit: 'stack',
  },
  'recursion of proxies': { code: 'const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x', limit: 'stack' },
  'recursion of sort': { code: '(function f() { [2, 1].sort(f) })()', limit: 'stack' },
  'recursion of iterators': {
    code: 'let it = [1].values(); for (let i = 0; i < 20000; i++) it = it.map((x) => x); it.next()',
    limit: 'stack',
  },
  'deep JSON': { code: `JSON.parse('['.repeat(200000))`, limit: 'stack' },
  'a deep value': { code: 'let a = []; for (let i = 0; i < 100000; i++) a = [a]; JSON.stringify(a)', limit: 'stack' },
  'deep source': { code: `eval('['.repeat(50000))`, limit: 'stack' },
  'a deep pattern': { code: `new RegExp('(?:'.repeat(50000))`, limit: 'stack' },
  'a long sort': {
    code: 'const a = Array.from({ length: 5e7 }, () => 0); a.sort(() => 0.5 - Math.random())',
    limit: 'memory',
  },
  'a map of maps': { code: 'const m = new Map(); for (let i = 0; ; i++) m.set(i, new Map([[i, i]]))', limit: 'memory' },
  'a long array from nothing': { code: 'Array.prototype.toReversed.call({ length: 2 ** 26 })', limit: 'memory' },
  'a flood of calls': { code: `for (let i = 0; ; i++) mcp.fs.read({ path: '/' + i })`, limit: 'ticks' },
  'a flood of large calls': {
    code: `for (let i = 0; ; i++) mcp.fs.read({ path: '/' + i, x: 'x'.repeat(50000) })`,
    limit: 'memory',
  },
  'URLs that hold memory outside of the engine': {
    code: `const a = []; for (;;) a.push(new URL('http://a/' + 'x'.repeat(5e6)))`,
    limit: 'memory',
  },
  'held promises': { code: 'const a = []; for (;;) a.push(Promise.reject(new Error("x")))', limit: 'memory' },
}

for (const [name, { code, limit }] of Object.entries(bombs)) {
  test(`${name}: ends with the limit of ${limit}, and nothing catches it`, async () => {
    const guarded = `try { ${code} } catch { return 'caught' } finally { return 'finally' }`
    const outer = `const all = (async () => { ${guarded} })().then((v) => v, () => 'handled'); return await all`
    const { end, calls } = await play(boxes, outer, limit === 'ticks' ? narrow : {})
    assert(end && !end.ok, JSON.stringify(end))
    assert.equal(end.error.code, 'SANDBOX_RESOURCE_LIMIT')
    assert.deepEqual(end.error.context, { limit })
    assert.deepEqual(calls, [])
  })
}

test('big numbers grow until the engine itself refuses them, and a program may catch that', async () => {
  const code = 'let x = 2n; try { while (true) x = x ** 2n } catch (e) { return e.name }'
  assert.equal(await resultOf(boxes, code), 'RangeError')
})

test('50 MB at once are within the bound', async () => {
  assert.equal(await resultOf(boxes, `return 'x'.repeat(50e6).length`), 50e6)
})

test('a limit that is met while the value is written is a limit, too', async () => {
  const error = await errorOf(boxes, 'return { toJSON() { for (;;); } }', narrow)
  assert.deepEqual(error.context, { limit: 'ticks' })
  const turn = await errorOf(boxes, 'throw { get stack() { for (;;); } }', narrow)
  assert.deepEqual(turn.context, { limit: 'ticks' })
})

test('ticks are counted for each turn anew, and the same program always spends the same', async () => {
  const step = 'for (let i = 0; i < 1e5; i++); await mcp.a.b();'
  const spends = async (ticksPerTurnMax: number) =>
    (await play(boxes, `${step.repeat(3)} return 1`, { limits: { ticksPerTurnMax } })).end
  assert.deepEqual(await spends(21), { ok: true, value: '1' })
  for (let i = 0; i < 2; i += 1) assert.equal((await spends(19))?.ok, false)
})

/**
 * Pinned: another depth is another engine, and then programs that were recorded may end elsewhere.
 */
const depth = 1090

test('recursion reaches the same depth in every box, however it is closed and however warm it is', async () => {
  const code = 'let n = 0; const f = () => { n++; if (n < args.n) f() }; f(); return n'
  const other = openBoxes({ bwrap: null })
  after(() => other.close())
  for (const place of [boxes, other, boxes]) {
    const reaches = async (n: number) => (await play(place, code, { args: JSON.stringify({ n }) })).end?.ok
    assert.deepEqual([await reaches(depth), await reaches(depth + 1)], [true, false])
  }
})

test('what the engine does between two ticks is stopped by the clock, and said to be', async () => {
  const program = 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)'
  await assert.rejects(play(boxes, program, { limits: { turnWallMsMax: 300 } }), {
    code: 'SANDBOX_TIMEOUT',
    context: { limit: 'wall', ms: 300 },
  })
  assert.equal(await resultOf(boxes, 'return 1'), 1)
})

test('turns that are asked for at once have their time one after the other', async () => {
  const code = 'for (let turn = 0; turn < 40; turn++) { await mcp.a.b(); for (let i = 0; i < 1e6; i++); } return 1'
  const program = await boxes.program(startOptions(code, { limits: { turnWallMsMax: 1000 } }))
  const deliveries = Array.from({ length: 40 }, (_, i) => ({ call: i + 1, ok: true, text: '1', now: i }))
  const turns = await Promise.all([program.start(), ...deliveries.map((delivery) => program.deliver(delivery))])
  assert.deepEqual(turns.at(-1)?.end, { ok: true, value: '1' })
})

test('limits are narrowed by a caller, never widened', async () => {
  const wide = { limits: { memoryBytesMax: 1024 * limits.programMemoryBytesMax } }
  assert.deepEqual((await errorOf(boxes, `return 'x'.repeat(1e8).length`, wide)).context, { limit: 'memory' })
  const small = { limits: { memoryBytesMax: 8 * 1024 * 1024 } }
  assert.deepEqual((await errorOf(boxes, `return 'x'.repeat(1e7).length`, small)).context, { limit: 'memory' })
})
