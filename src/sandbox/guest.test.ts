/** What a program sees, and what it gets for what it does. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { limits } from '#model'
import { absent, removed } from './inside/guest.ts'
import { engine, errorOf, play, resultOf, seed, startedAt } from './play.test.ts'
import { openBoxes } from './sandbox.ts'

const boxes = openBoxes({ engine })
after(() => boxes.close())

test('a program calls tools by every form of their name', async () => {
  const { calls, end } = await play(
    boxes,
    `await mcp.fs.read({ path: '/a' })
     await mcp['my-server']['list.items']()
     await tool('x:y:z', { n: 1 })
     await cap.fetch_all({ url: 'u' })
     await cap['two words'](null)
     return args.n`,
    { args: '{"n":7}' },
  )
  assert.deepEqual(calls, [
    { tool: 'fs:read', args: '{"path":"/a"}' },
    { tool: 'my-server:list.items', args: '{}' },
    { tool: 'x:y:z', args: '{"n":1}' },
    { tool: 'cap:fetch_all', args: '{"url":"u"}' },
    { tool: 'cap:two words', args: 'null' },
  ])
  assert.deepEqual(end, { ok: true, value: '7' })
})

test('mcp is an empty frozen object without a prototype, and then is no tool', async () => {
  const value = await resultOf(
    boxes,
    `const tries = [() => { mcp.x = 1 }, () => { delete mcp.fs }, () => Object.defineProperty(mcp, 'x', { value: 1 }),
       () => Object.setPrototypeOf(mcp, {}), () => { mcp.fs.read = 1 }, () => { globalThis.mcp = 1 }]
     const refused = tries.map((act) => { try { act(); return 'done' } catch { return 'refused' } })
     return { keys: Object.keys(mcp), own: Reflect.ownKeys(mcp.fs), proto: Object.getPrototypeOf(mcp),
       frozen: Object.isFrozen(mcp), then: typeof mcp.then + typeof mcp.fs.then + typeof cap.then, awaited: (await mcp) === mcp,
       symbols: typeof mcp[Symbol.iterator], has: 'fs' in mcp, json: JSON.stringify([mcp, mcp.fs]), refused }`,
  )
  assert.deepEqual(value, {
    keys: [],
    own: [],
    proto: null,
    frozen: true,
    then: 'undefinedundefinedundefined',
    awaited: true,
    symbols: 'undefined',
    has: false,
    json: '[{},{}]',
    refused: ['refused', 'done', 'refused', 'refused', 'refused', 'refused'],
  })
})

test('a program receives the parsed text of a result, and its own value is JSON text', async () => {
  const answer = () => ({ ok: true as const, value: { a: [1, null, 'é\u2028'], b: { c: 1e21 } } })
  const { end } = await play(boxes, 'return await mcp.a.b()', { answer })
  assert.deepEqual(end, { ok: true, value: '{"a":[1,null,"é\u2028"],"b":{"c":1e+21}}' })
  for (const [code, value] of [
    ['', 'null'],
    ['return', 'null'],
    ['return () => 1', 'null'],
    ['return Symbol()', 'null'],
    ['return NaN', 'null'],
    ['return "\\ud800"', '"\\ud800"'],
    ['return new Map([[1, 2]])', '{}'],
    ['return new Date()', '"2026-01-02T03:04:05.000Z"'],
  ] as const) {
    assert.deepEqual((await play(boxes, code)).end, { ok: true, value }, code)
  }
})

test('a value that JSON cannot say is a PROGRAM_ERROR that names it', async () => {
  const cycle = await errorOf(boxes, 'const a = {}; a.a = a; return a')
  assert.equal(cycle.code, 'PROGRAM_ERROR')
  assert.match(cycle.message, /^Cannot return the program's value: .*circular/)
  const big = await errorOf(boxes, 'return { n: 1n }')
  assert.equal(big.code, 'PROGRAM_ERROR')
  assert.match(big.message, /BigInt/)
  const thrown = await errorOf(boxes, 'return { toJSON() { throw new Error("mine") } }')
  assert.match(thrown.message, /mine/)
  assert.equal((await errorOf(boxes, `return 'x'.repeat(${limits.resultBytesMax})`)).code, 'RESULT_TOO_LARGE')
})

test('an error of a tool is thrown as ToolError, and ends the program unchanged if nobody catches it', async () => {
  const answer = () => ({ ok: false as const, code: 'TOOL_ERROR', message: 'no such file', context: { path: '/a' } })
  const caught = await resultOf(
    boxes,
    `try { await mcp.fs.read({}) } catch (e) {
       return [e instanceof ToolError, e instanceof Error, e.name, e.code, e.message, e.tool, e.context, String(e)]
     }`,
    { answer },
  )
  assert.deepEqual(caught, [
    true,
    true,
    'ToolError',
    'TOOL_ERROR',
    'no such file',
    'fs:read',
    { path: '/a' },
    'ToolError: no such file',
  ])
  const expected = {
    code: 'TOOL_ERROR',
    message: 'no such file',
    context: { path: '/a', tool: 'fs:read' },
    fate: 'correct',
  }
  assert.deepEqual(await errorOf(boxes, 'await mcp.fs.read({})', { answer }), expected)
  const changed = 'try { await mcp.fs.read({}) } catch (e) { e.code = "STORE_FULL"; e.message = "lie"; throw e }'
  assert.deepEqual(await errorOf(boxes, changed, { answer }), expected)
  const forged = await errorOf(boxes, 'throw new ToolError("APPROVAL_DENIED", "lie", "a:b", {})')
  assert.equal(forged.code, 'PROGRAM_ERROR')
})

test('arguments that are no JSON, or too much of it, are left out of the call, which says why', async () => {
  const code = `const bad = [1n, (() => { const a = {}; a.a = a; return a })(), () => 1, Symbol(), { toJSON() { throw new Error('mine') } },
      'x'.repeat(${limits.callArgumentsBytesMax}), 'é'.repeat(${limits.callArgumentsBytesMax / 2})]
    const errors = []
    for (const args of bad) await mcp.a.b(args).catch((e) => errors.push([e.name, e.code, e.tool, e.context.param]))
    await tool(5).catch((e) => errors.push([e.name, e.code]))
    await tool('metier:timer', { ms: 1 }).catch((e) => errors.push([e.name, e.code]))
    await mcp.a['x'.repeat(1e6)]().catch((e) => errors.push([e.name, e.code]))
    return errors`
  const { calls, end } = await play(boxes, code)
  assert.deepEqual([calls.length, new Set(calls.map(({ args }) => args))], [10, new Set(['null'])])
  assert.match(calls[4]!.refused!, /no JSON: Error: mine/)
  assert.match(calls[5]!.refused!, /longer than/)
  assert.deepEqual(
    calls.slice(7).map(({ tool }) => tool.slice(0, 12)),
    ['number', 'metier:timer', 'a:xxxxxxxxxx'],
  )
  assert(end?.ok)
  const errors = JSON.parse(end.value)
  assert.equal(errors.length, 10)
  for (const error of errors.slice(0, 7)) assert.deepEqual(error, ['ToolError', 'INVALID_INPUT_PARAM', 'a:b', 'args'])
  const exact = `return (await mcp.a.b('x'.repeat(${limits.callArgumentsBytesMax - 2}))).length`
  assert.equal(await resultOf(boxes, exact), limits.callArgumentsBytesMax - 2)
})

test('getters and toJSON of arguments run once, at the call, and may call in turn', async () => {
  const { calls } = await play(
    boxes,
    `let n = 0
     const args = { get a() { n += 1; return n }, b: { toJSON() { mcp.inner.call({ n }); return 'b' } } }
     await mcp.outer.call(args)
     return n`,
  )
  assert.deepEqual(calls, [
    { tool: 'inner:call', args: '{"n":1}' },
    { tool: 'outer:call', args: '{"a":1,"b":"b"}' },
  ])
})

test('time is that of the turn, and stands still in it', async () => {
  const code = `const now = () => [Date.now(), new Date().getTime(), new Date(Date()).getTime()]
    const first = now(); for (let i = 0; i < 1e5; i++); const same = now()
    await mcp.a.b()
    return [first, same, now(), new Date(2026, 0, 1).toISOString(), new Date().getTimezoneOffset(), typeof performance]`
  const second = (at: number) => Math.floor(at / 1000) * 1000
  const shown = (at: number) => [at, at, second(at)]
  assert.deepEqual(await resultOf(boxes, code), [
    shown(startedAt),
    shown(startedAt),
    shown(startedAt + 1),
    '2026-01-01T00:00:00.000Z',
    0,
    'undefined',
  ])
})

test('timers are calls, fire in the order of their deliveries, and a cleared one does nothing', async () => {
  const { calls, end } = await play(
    boxes,
    `const seen = []
     setTimeout((...a) => seen.push('timeout', ...a), 5, 1, 2)
     const cleared = setTimeout(() => seen.push('cleared'), 6)
     let n = 0
     const id = setInterval(() => { seen.push('tick'); if (++n === 2) clearInterval(id) }, 7)
     clearTimeout(cleared); clearTimeout(undefined); clearTimeout({})
     await sleep(3.7); await sleep(-1); await sleep('x')
     setTimeout(() => { throw new Error('in a timer') }, 1)
     await sleep(9)
     return seen`,
  )
  assert.deepEqual(
    calls.map(({ tool, args }) => [tool, JSON.parse(args).ms]),
    [5, 6, 7, 3, 7, 0, 0, 1, 9].map((ms) => ['metier:timer', ms]),
  )
  assert.deepEqual(end, { ok: true, value: '["timeout",1,2,"tick","tick"]' })
  const far = `return await sleep(${limits.timerMsMax + 1}).catch((e) => e.name)`
  assert.equal(await resultOf(boxes, far), 'RangeError')
  const many = `let n = 0; try { for (;;) { setTimeout(() => {}, 1); n++ } } catch (e) { return [n, e.name] }`
  assert.deepEqual(await resultOf(boxes, many), [limits.programTimersMax, 'RangeError'])
})

test('what a timer or a rejection throws with nobody to catch it is a warning', async () => {
  const { logs, end } = await play(
    boxes,
    `setTimeout(() => { throw new TypeError('in a timer') }, 1)
     Promise.reject(new Error('alone'))
     const later = Promise.reject(new Error('handled in time')); later.catch(() => {})
     await sleep(1); return 1`,
  )
  // V8 does not tell of a rejection for certain, so it never does.
  const alone = { level: 'warn', text: 'Nobody handled a rejection: Error: alone' }
  const timer = { level: 'warn', text: 'A timer threw: TypeError: in a timer' }
  assert.deepEqual(logs, engine === 'v8' ? [timer] : [alone, timer])
  assert.deepEqual(end, { ok: true, value: '1' })
})

test('chance comes from the seed alone', async () => {
  const code = `const bytes = crypto.getRandomValues(new Uint8Array(8))
    return [Math.random(), Math.random(), crypto.randomUUID(), [...bytes], [...crypto.getRandomValues(new Uint32Array(1))]]`
  const first = await resultOf(boxes, code)
  assert.deepEqual(await resultOf(boxes, code), first)
  const other = (await resultOf(boxes, code, { seed: 'f'.repeat(64) })) as unknown[]
  const [random, , uuid] = first as [number, number, string]
  for (const [i, value] of (first as unknown[]).entries()) assert.notDeepEqual(other[i], value)
  assert(random >= 0 && random < 1)
  assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const even = 'let n = 0; for (let i = 0; i < 20000; i++) n += Math.random(); return Math.abs(n / 20000 - 0.5) < 0.01'
  assert.equal(await resultOf(boxes, even), true)
  const refused = `const tried = [new Float64Array(1), new Uint8Array(65537), {}, 1, null, new DataView(new ArrayBuffer(8))]
    return tried.map((v) => { try { crypto.getRandomValues(v); return 'filled' } catch (e) { return e.name } })`
  const names = await resultOf(boxes, refused)
  assert(Array.isArray(names) && !names.includes('filled'))
  assert(
    !JSON.stringify(await resultOf(boxes, 'return Object.getOwnPropertyNames(globalThis)')).includes(seed.slice(0, 8)),
  )
})

test('the built-ins that engines of agents expect are there, and those that observe the world are not', async () => {
  const value = await resultOf(
    boxes,
    `const url = new URL('../b?q=1#h', 'https://user@example.com:8080/a/c'); url.searchParams.append('é', ' ')
     const clone = structuredClone({ d: new Date(0), m: new Map([[1, new Set([2])]]), n: [1n.toString()] })
     let micro = 0; await new Promise((r) => queueMicrotask(() => { micro = 1; r() }))
     const params = new URLSearchParams([['a', 1], ['b', 2]]); params.append('a', '3')
     const held = url.searchParams; url.search = '?z=9'; held.set('y', 8); held.delete('z')
     return { url: url.href, held: [url.searchParams === held, held.toString(), held.get('q')],
       params: [params.getAll('a'), String(new URLSearchParams({ é: '1 2' })), String(new URLSearchParams(params)), params.size],
       text: new TextDecoder().decode(new TextEncoder().encode('é€😀')), base: atob(btoa('hi')),
       clone: [clone.d.getTime(), clone.m.get(1).has(2)], micro }`,
  )
  assert.deepEqual(value, {
    url: 'https://user@example.com:8080/b?y=8#h',
    held: [true, 'y=8', null],
    params: [['1', '3'], '%C3%A9=1+2', 'a=1&b=2&a=3', 3],
    text: 'é€😀',
    base: 'hi',
    clone: [0, true],
    micro: 1,
  })
  const names = JSON.stringify([...removed, ...absent])
  assert.deepEqual(await resultOf(boxes, `return ${names}.filter((name) => name in globalThis)`), [])
})

test('log lines are captured as text, cut and counted', async () => {
  const { logs } = await play(
    boxes,
    `const cycle = {}; cycle.self = cycle
     console.log('a', 1, null, undefined, { b: [2] }, true, 3n, Symbol('s'))
     console.info(new TypeError('t')); console.warn(cycle); console.error(() => 1); console.debug()
     console.assert(1 === 1, 'no'); console.assert(false, 'yes')
     console.log({ get x() { throw new Error('getter') } }); console.log(new Proxy({}, { ownKeys() { throw 1 } }))`,
  )
  assert.deepEqual(
    logs.map(({ level, text }) => `${level} ${text}`),
    [
      'log a 1 null undefined {"b":[2]} true 3 Symbol(s)',
      'info TypeError: t',
      'warn [object Object]',
      'error () => 1',
      'debug ',
      'error Assertion failed yes',
      'log [object Object]',
      'log [object Object]',
    ],
  )
  const flood = await play(boxes, `for (let i = 0; i < 5000; i++) console.log('é'.repeat(20000))`)
  assert.equal(flood.logs.length, limits.programLogLinesMax)
  assert(flood.logs.every(({ text }) => Buffer.byteLength(text) <= limits.programLogLineBytesMax))
  assert.match(flood.logs.at(-1)!.text, /dropped/)
})

test('calls beyond the bound wait for a free place, in order, and are issued with the end of a program that does not', async () => {
  const code = (wait: string) => `const all = Array.from({ length: 200 }, (_, i) => mcp.a.b({ i })); ${wait}`
  const whole = await play(boxes, code('return (await Promise.all(all)).length'), { next: (open) => open.length - 1 })
  assert.deepEqual(whole.end, { ok: true, value: '200' })
  assert.equal(whole.turns[0]!.calls.length, limits.callsInFlightMax)
  assert.deepEqual(
    whole.calls.map(({ args }) => JSON.parse(args).i),
    Array.from({ length: 200 }, (_, i) => i),
  )
  const early = await play(boxes, code('return await Promise.race(all)'))
  assert.deepEqual(early.calls, whole.calls)
  assert.deepEqual([early.end, early.turns.length], [{ ok: true, value: '{"i":0}' }, 2])
  const many = `let refused = 0; for (let i = 0; i < 70 + ${limits.programCallsWaitingMax}; i++) mcp.a.b({}).catch(() => { refused++ })
    await null; await null; return refused`
  const flood = await play(boxes, many)
  assert.equal(flood.calls.length, limits.callsInFlightMax + limits.programCallsWaitingMax)
  assert.deepEqual(flood.end, { ok: true, value: '6' })
})

test('a thrown value points at the line of the user', async () => {
  const code = `const a: number = 1
function deep(x: unknown): never {
  throw new RangeError('bad ' + x)
}
await mcp.a.b()
if (a) {
  deep('thing')
}`
  const error = await errorOf(boxes, code)
  assert.equal(error.code, 'PROGRAM_ERROR')
  assert.match(error.message, /^Cannot finish the program: RangeError: bad thing \(line 3, column \d+\)$/)
  assert.equal(error.context.line, 3)
  assert.match(String(error.context.stack), /^at deep \(3:\d+\)\nat (?:<anonymous>|program) \(7:3\)$/)
  assert.equal((await errorOf(boxes, '\n\nundefinedName')).context.line, 3)
  assert.equal((await errorOf(boxes, 'null.x')).context.line, 1)
  const plain = await errorOf(boxes, 'throw { some: "thing" }')
  assert.deepEqual([plain.code, plain.context.line], ['PROGRAM_ERROR', undefined])
  for (const hostile of [
    'throw new Proxy(new Error("x"), { get() { throw 1 }, getPrototypeOf() { throw 2 } })',
    'throw { get stack() { throw 1 }, toString() { throw 2 } }',
    'const e = new Error("x"); e.stack = 5; e.message = {}; throw e',
    'throw Object.create(null)',
    'throw null',
    'throw Symbol("s")',
    'const e = new Error("y".repeat(1e6)); throw e',
  ]) {
    const { code, message } = await errorOf(boxes, hostile)
    assert.equal(code, 'PROGRAM_ERROR', hostile)
    assert(message.length < 5000, hostile)
  }
})

test('a program that waits while nothing is open simply takes no further turn', async () => {
  const { turns, end } = await play(boxes, 'await new Promise(() => {})')
  assert.deepEqual({ turns, end }, { turns: [{ calls: [], logs: [] }], end: null })
})
