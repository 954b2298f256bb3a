/** Ways out of the engine, and ways into the bridge: each program tries one and says what it got. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { prelude } from './inside/guest.ts'
import { play, resultOf } from './play.test.ts'
import { bootMessage } from './program.ts'
import { openBoxes } from './sandbox.ts'

const boxes = openBoxes()
after(() => boxes.close())

/** What a host would show that the guest must never see. */
const host = `typeof process + typeof require + typeof Buffer + typeof module + typeof __dirname`
const nothing = 'undefined'.repeat(5)

const probes: Record<string, { code: string; value: unknown }> = {
  'the constructor of the global object': {
    code: `return globalThis.constructor.constructor('return ${host}')()`,
    value: nothing,
  },
  'the constructor of a function': { code: `return (function () {}).constructor('return ${host}')()`, value: nothing },
  'the constructor of an async function': {
    code: `return await (async function () {}).constructor('return ${host}')()`,
    value: nothing,
  },
  'the constructor of a generator': {
    code: `return (function* () {}).constructor('yield ${host}')().next().value`,
    value: nothing,
  },
  'the constructor of an async generator': {
    code: `return (await (async function* () {}).constructor('yield ${host}')().next()).value`,
    value: nothing,
  },
  'the constructor of a promise of the bridge': {
    code: `const p = mcp.a.b(); const v = p.constructor.constructor('return ${host}')(); await p; return v`,
    value: nothing,
  },
  'the constructor of a tool': { code: `return mcp.a.b.constructor('return ${host}')()`, value: nothing },
  'the constructor of a result': {
    code: `return (await mcp.a.b({ x: [1] })).x.constructor.constructor('return ${host}')()`,
    value: nothing,
  },
  'the constructor of an error of the bridge': {
    code: `try { await tool(1) } catch (e) { return e.constructor.constructor('return ${host}')() }`,
    value: nothing,
  },
  'the constructor of console': { code: `return console.log.constructor('return ${host}')()`, value: nothing },
  'the constructor of crypto': { code: `return crypto.randomUUID.constructor('return ${host}')()`, value: nothing },
  'the constructor of URL': { code: `return URL.constructor('return ${host}')()`, value: nothing },
  'eval, direct and indirect': { code: `return [eval('${host}'), (0, eval)('${host}')]`, value: [nothing, nothing] },
  'this of a plain function': { code: `return Function('return this === globalThis && ${host}')()`, value: nothing },
  'this of the program': {
    code: `return typeof this + typeof arguments + arguments.length`,
    value: 'undefinedobject0',
  },
  'the caller of the program': {
    code: `try { return typeof arguments.callee } catch (e) { return e.name }`,
    value: 'TypeError',
  },
  'the caller of a callback': {
    code: `function f() { try { return typeof f.caller } catch (e) { return e.name } } return ['undefined', 'TypeError'].includes([1].map(f)[0])`,
    value: true,
  },
  'import()': {
    code: `return await Promise.all(['node:fs', 'fs', '/etc/passwd', './child.ts', 'quickjs-wasi', 'data:text/javascript,1'].map((m) => import(m).then(() => 'in', (e) => e.name)))`,
    value: ['ReferenceError', 'ReferenceError', 'ReferenceError', 'ReferenceError', 'ReferenceError', 'ReferenceError'],
  },
  'import.meta by eval': {
    code: `try { return eval('import.meta') } catch (e) { return e.name }`,
    value: 'SyntaxError',
  },
  'names of the engine’s own tools': {
    code: `return ['std', 'os', 'bjson', 'print', 'scriptArgs', 'loadScript', 'gc', 'navigator', 'Worker', 'argv0', 'evalScript', '__loadScript', 'host_call'].filter((n) => n in globalThis)`,
    value: [],
  },
  'frames of a stack': {
    code: `Error.prepareStackTrace = (e, frames) => frames; const s = new Error('x').stack; return typeof s`,
    value: 'string',
  },
  'frames of a stack under the bridge': {
    code: `let got = 'nothing'
      Object.defineProperty(Error, 'prepareStackTrace', { value: (e, frames) => { got = frames.map((f) => f.getFunction?.name) } })
      await new Promise((r) => setTimeout(() => { new Error('x').stack; Error.captureStackTrace({}); r() }, 1))
      return got`,
    value: 'nothing',
  },
  'files of the host in a stack': {
    code: `try { await mcp.a.b(1n) } catch (e) { return /node:|file:|\\.ts|\\/box|wasm/.test(e.stack + new Error('x').stack) }`,
    value: false,
  },
  'a host error through the parser': {
    code: `try { JSON.parse('{') } catch (e) { return [e instanceof SyntaxError, Object.keys(e)] }`,
    value: [true, []],
  },
  'symbols as tools': {
    code: `return [Symbol.toPrimitive, Symbol.iterator, Symbol.asyncIterator, Symbol.for('x'), Symbol.unscopables].map((s) => typeof mcp[s] + typeof mcp.a[s])`,
    value: Array(5).fill('undefinedundefined'),
  },
  'a thenable of the bridge': {
    code: `return [await mcp === mcp, await mcp.a === mcp.a || typeof mcp.a, (await Promise.all([mcp, cap])).length]`,
    value: [true, 'object', 2],
  },
  'a tool called then': {
    code: `const seen = []; await tool('a:then', {}).then((v) => seen.push(v)); return [seen, typeof mcp.a.then]`,
    value: [[{}], 'undefined'],
  },
  'names of objects as tools': {
    code: `return Promise.all(['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString'].map((n) => mcp[n][n]({ n })))`,
    value: ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString'].map((n) => ({ n })),
  },
  'a handler inherited by the proxy': {
    code: `for (const trap of ['has', 'ownKeys', 'getPrototypeOf', 'set', 'apply', 'getOwnPropertyDescriptor']) Object.prototype[trap] = () => { throw new Error('trap') }
      return ['x' in mcp, Reflect.ownKeys(mcp), Object.getPrototypeOf(mcp)]`,
    value: [false, [], null],
  },
  'a polluted prototype in a result': {
    code: `const r = await tool('a:b', JSON.parse('{"__proto__":{"polluted":1},"x":1}')); return [r.polluted, ({}).polluted, Object.keys(r)]`,
    value: [null, null, ['__proto__', 'x']],
  },
}

for (const [name, { code, value }] of Object.entries(probes)) {
  test(`no way out: ${name}`, async () => {
    assert.deepEqual(await resultOf(boxes, code), value)
  })
}

/** What a program may overwrite; the calls after it, and their results, are the same as without. */
const vandals: Record<string, string> = {
  'Promise.prototype.then': `Promise.prototype.then = function () { return 'stolen' }; Promise.prototype.catch = Promise.prototype.then`,
  'the constructor of promises': `Promise.prototype.constructor = function () { throw new Error('no') }; Promise.resolve = () => 1; globalThis.Promise = class {}`,
  'the species of promises': `Object.defineProperty(Promise, Symbol.species, { get() { throw new Error('no') } })`,
  JSON: `JSON.parse = () => 'stolen'; JSON.stringify = () => 'stolen'; globalThis.JSON = null`,
  'toJSON of everything': `for (const p of [Object, Array, String, Number, Boolean, Function]) p.prototype.toJSON = undefined; Array.prototype.toJSON = String.prototype.toJSON = () => 'stolen'`,
  'setters of names': `for (const n of ['code', 'tool', 'context', 'name', 'resolve', 'reject', 'args', 'message', 'ok', 'value']) Object.defineProperty(Object.prototype, n, { set() { throw new Error('no') }, get() { return 'stolen' }, configurable: true })`,
  'Map, WeakMap and Set': `for (const k of ['get', 'set', 'has', 'delete']) { Map.prototype[k] = WeakMap.prototype[k] = Set.prototype[k] = () => { throw new Error('no') } }`,
  'Reflect and Object': `for (const o of [Reflect, Object]) for (const k of Object.getOwnPropertyNames(o)) { try { if (typeof o[k] === 'function' && k !== 'prototype') o[k] = () => { throw new Error('no') } } catch {} }`,
  'strings and arrays': `for (const p of [String.prototype, Array.prototype]) for (const k of Object.getOwnPropertyNames(p)) if (k !== 'constructor' && k !== 'length') p[k] = () => { throw new Error('no') }; Array.prototype[Symbol.iterator] = String.prototype[Symbol.iterator] = () => { throw new Error('no') }`,
  functions: `Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw new Error('no') }`,
  errors: `Error.prototype.isPrototypeOf = () => { throw new Error('no') }; Object.prototype.isPrototypeOf = Error.prototype.isPrototypeOf; Object.defineProperty(Error.prototype, 'stack', { get() { throw new Error('no') }, configurable: true }); Error.stackTraceLimit = 0; globalThis.Error = globalThis.RangeError = class {}`,
  'every global': `for (const k of Object.getOwnPropertyNames(globalThis)) { if (k !== 'mcp' && k !== 'tool' && k !== 'sleep' && k !== 'globalThis') try { globalThis[k] = undefined } catch {} }`,
  ToolError: `try { Object.setPrototypeOf(ToolError, function () { throw new Error('no') }) } catch {} try { ToolError.prototype.code = 'stolen' } catch {} globalThis.ToolError = class {}`,
  descriptors: `Object.prototype.get = () => 'stolen'; Object.prototype.writable = false; Object.prototype.value = 'stolen'`,
  'dates and chance': `Date.now = () => 0; globalThis.Date = class {}; Math.random = () => 0; Math.max = Math.floor = () => NaN`,
}

for (const [name, vandalism] of Object.entries(vandals)) {
  test(`no way into the bridge: ${name}`, async () => {
    const code = (act: string) => `${act}
      const first = await mcp.a.b({ n: 1, deep: { list: 'x' } })
      let code, tool_
      try { await tool('c:d', { n: 2 }) } catch (e) { code = e.code; tool_ = e.tool }
      await sleep(5)
      const { n } = await mcp.e.f({ code, tool_, n: first.n })
      if (n !== 1) throw 'wrong'
      await mcp.g.h({ last: true })`
    const answer = ({ tool, args }: { tool: string; args: string }) =>
      tool === 'c:d'
        ? { ok: false as const, code: 'TOOL_ERROR', message: 'refused' }
        : { ok: true as const, value: JSON.parse(args) }
    const honest = await play(boxes, code(''), { answer })
    const hostile = await play(boxes, code(vandalism), { answer })
    assert.deepEqual(hostile.calls, honest.calls)
    assert.deepEqual(hostile.deliveries, honest.deliveries)
    assert.equal(honest.calls.length, 5)
    assert.equal(hostile.end?.ok ?? `${JSON.stringify(hostile)}`, true)
  })
}

test('a program that breaks the engine’s own JSON breaks itself alone', async () => {
  const setters = `for (let i = 0; i < 20; i++) for (const p of [Object.prototype, Array.prototype])
    Object.defineProperty(p, i, { set() { mcp.again.and({}); throw new Error('no') }, get() { return 'stolen' }, configurable: true })
    await mcp.a.b({ n: 1 })`
  const { end, calls } = await play(boxes, setters, { limits: { ticksPerTurnMax: 50 } })
  assert.equal(end?.ok, false)
  assert.deepEqual(calls, [])
  assert.equal(await resultOf(boxes, 'return 1'), 1)
})

test('the prelude has no template literal, because the engine makes it a call of the program’s concat', () => {
  const { boot } = bootMessage()
  assert(!prelude(boot.guest).includes('`'))
})

test('a program cannot answer its own calls, hide them, or end twice', async () => {
  const { calls, end } = await play(
    boxes,
    `const names = Object.getOwnPropertyNames(globalThis).filter((n) => /deliver|take|finish|bridge|begin|warn|host|issue/i.test(n))
     const p = mcp.a.b({ n: 1 }); let early = false; p.then(() => { early = true }); await null; await null
     return [names, early, await p]`,
  )
  assert.equal(calls.length, 1)
  assert.deepEqual(end, { ok: true, value: '[[],false,{"n":1}]' })
})

test('huge outputs reach nobody: a line is cut, a value is refused, a call is refused', async () => {
  const { logs, end } = await play(
    boxes,
    `console.log('x'.repeat(1e7)); let refused; try { await mcp.a.b('x'.repeat(1e7)) } catch (e) { refused = e.code } return refused`,
  )
  assert(logs[0]!.text.length < 10_000)
  assert.deepEqual(end, { ok: true, value: '"INVALID_INPUT_PARAM"' })
})

test('two programs do not see each other, beside or after one another in the same process', async () => {
  const leave = `globalThis.secret = 'left'; Object.prototype.secret = 'left'; Array.prototype.map = () => 'left'; await mcp.a.b(); return 1`
  const look = `return [typeof globalThis.secret, [1].map((x) => x + 1), ({}).secret === undefined]`
  const clean = ['undefined', [2], true]
  await resultOf(boxes, leave)
  assert.deepEqual(await resultOf(boxes, look), clean)
  const both = await Promise.all([resultOf(boxes, leave), resultOf(boxes, look), resultOf(boxes, leave)])
  assert.deepEqual(both, [1, clean, 1])
})
