/**
 * Programs of ours that try to leave the engine or to deceive the bridge: each says what it got,
 * and what it may get.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IssuedCall, LogLine } from '#model'
import { startedAt } from './play.test.ts'

export type Escape = {
  code: string
  value: unknown
  /** Where V8's own answer is another one, and as good. */
  inV8?: unknown
  /** What leaves the box, where that is the point. */
  calls?: IssuedCall[]
  logs?: LogLine[]
}

/** What a host would show that the guest must never see. */
const host = `typeof process + typeof require + typeof Buffer + typeof module + typeof __dirname`
const nothing = 'undefined'.repeat(5)
const fails = (name: string) => Array(6).fill(name)

/** Ways to a function that is not of the guest's own world. */
const constructors: Record<string, Escape> = {
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
  'the constructor of an error of a built-in': {
    code: `try { new URL('no') } catch (e) { return e.constructor.constructor('return ${host}')() }`,
    value: nothing,
  },
  'the constructor of what a decoder made': {
    code: `const b = new TextEncoder().encode('x'); return [b.constructor, b.buffer.constructor].map((c) => c.constructor('return ${host}')())`,
    value: [nothing, nothing],
  },
  'eval, direct and indirect': { code: `return [eval('${host}'), (0, eval)('${host}')]`, value: [nothing, nothing] },
  'this of a plain function': { code: `return Function('return this === globalThis && ${host}')()`, value: nothing },
  'with around the global object': {
    code: `return Function('with (globalThis) { return ${host} }')()`,
    value: nothing,
  },
  'names in escapes': {
    code: String.raw`return typeof \u0070rocess + typeof \u{72}equire`,
    value: 'undefinedundefined',
  },
  'everything that can be reached from the global object': {
    code: `const seen = new Set(), found = []
      const visit = (value, depth) => {
        if (value === null || !['object', 'function'].includes(typeof value) || seen.has(value) || depth > 8) return
        seen.add(value)
        let keys = []; try { keys = Reflect.ownKeys(value); visit(Object.getPrototypeOf(value), depth + 1) } catch {}
        for (const key of keys) {
          const d = Object.getOwnPropertyDescriptor(value, key)
          if (/^(process|require|binding|dlopen|exports|memory|ivm|derefInto|applySync|__wasm)/.test(String(key))) found.push(String(key))
          for (const part of [d.value, d.get, d.set]) visit(part, depth + 1)
        }
        if (typeof value === 'function') try { const made = value.constructor('return ${host}')(); if (typeof made === 'string' && made !== '${nothing}') found.push(made) } catch {}
      }
      visit(globalThis, 0); visit(mcp.a.b, 0); visit(mcp.a.b(), 0)
      return [found, seen.size > 500]`,
    value: [[], true],
  },
}

/** Ways past the language: stacks, callers, modules, and what the engine offers its own host. */
const engine: Record<string, Escape> = {
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
    value: fails('ReferenceError'),
    inV8: fails('Error'),
  },
  'import() inside a function made from text': {
    code: `return await Promise.all(['node:fs', 'node:module'].map((m) => Function('m', 'return import(m)')(m).then(() => 'in', () => 'no')))`,
    value: ['no', 'no'],
  },
  'import.meta by eval': {
    code: `try { return eval('import.meta') } catch (e) { return e.name }`,
    value: 'SyntaxError',
  },
  'names of the engine’s own tools': {
    code: `return ['std', 'os', 'bjson', 'print', 'scriptArgs', 'loadScript', 'gc', 'navigator', 'Worker', 'argv0', 'evalScript', '__loadScript', 'host_call', 'ivm', '$0', 'global', 'WebAssembly', 'Intl', 'd8', 'version'].filter((n) => n in globalThis)`,
    value: [],
  },
  'syntax for the engine’s own functions': {
    code: `return ['%DebugPrint(1)', '%GetOptimizationStatus(eval)', '%SystemBreak()'].map((t) => { try { return typeof eval(t) } catch (e) { return e.name } })`,
    value: Array(3).fill('SyntaxError'),
  },
  'a debugger': { code: `debugger; return Function('debugger; return 1')()`, value: 1 },
  'frames of a stack': {
    code: `Error.prepareStackTrace = (e, frames) => frames; const s = new Error('x').stack; return typeof s`,
    value: 'string',
  },
  'frames of a stack under the bridge': {
    code: `let got = 'nothing'
      try { Object.defineProperty(Error, 'prepareStackTrace', { value: (e, frames) => { got = frames.map((f) => f.getFunction?.name) } }) } catch {}
      await new Promise((r) => setTimeout(() => { new Error('x').stack; Error.captureStackTrace({}); r() }, 1))
      return got`,
    value: 'nothing',
  },
  'frames by way of a realm’s other errors': {
    code: `const got = []
      for (const E of [TypeError, RangeError, ToolError]) { try { E.prepareStackTrace = (e, f) => { got.push(E.name); return f } } catch {} try { got.push(typeof new E('x').stack) } catch {} }
      return got.every((one) => one === 'string')`,
    value: true,
  },
  'files of the host in a stack': {
    code: `try { await mcp.a.b(1n) } catch (e) { return /node:|file:|\\.ts|\\/box|wasm/.test(e.stack + new Error('x').stack) }`,
    value: false,
  },
  'a host error through the parser': {
    code: `try { JSON.parse('{') } catch (e) { return [e instanceof SyntaxError, Object.keys(e)] }`,
    value: [true, []],
  },
  'the real clock behind Date': {
    code: `const D = new Date().constructor
      return [Date.now(), D.now(), new D().getTime(), new (class extends D {})().getTime(), Reflect.construct(Date, [], D).getTime(),
        Date.prototype.constructor.now(), new Date(Date()).getTime(), structuredClone(new Date()).getTime()]`,
    value: Array(8).fill(startedAt),
  },
  'real time by counting': {
    code: `const first = Date.now(); for (let i = 0; i < 3e5; i++); return [Date.now() - first, typeof performance, typeof Temporal, typeof requestAnimationFrame]`,
    value: [0, 'undefined', 'undefined', 'undefined'],
  },
  'shared memory by another name': {
    code: `return [typeof SharedArrayBuffer, typeof Atomics, typeof WebAssembly, new Uint8Array(8).buffer.constructor.name, Object.prototype.toString.call(new Float64Array(1).buffer)]`,
    value: ['undefined', 'undefined', 'undefined', 'ArrayBuffer', '[object ArrayBuffer]'],
  },
}

/** Ways to the engine's own memory: each has been a hole somewhere. */
const memory: Record<string, Escape> = {
  'a buffer that shrinks under an array': {
    code: `const b = new ArrayBuffer(1024, { maxByteLength: 4096 }), u = new Uint8Array(b)
      u.fill({ valueOf() { b.resize(0); return 65 } }); b.resize(2048); return [u.length, new Set(u).size]`,
    value: [2048, 1],
  },
  'a buffer that is taken away while it is sorted': {
    code: `const b = new ArrayBuffer(4096), u = new Uint32Array(b); let n = 0
      try { u.sort((x, y) => { if (n++ === 3) b.transfer(); return x - y }) } catch {} return [u.length, b.detached]`,
    value: [0, true],
  },
  'an index that changes what it indexes': {
    code: `const a = [1.1, 2.2, 3.3]; a[{ toString() { a.length = 0; return '2' } }] = {}; const c = [...a]; a.fill(7); return [c.length, typeof c[2], a.length]`,
    value: [3, 'object', 3],
  },
  'a species that lies': {
    code: `class A extends Array { static get [Symbol.species]() { return function () { return new Proxy([], { defineProperty() { return true } }) } } }
      const s = A.from({ length: 100 }, (_, i) => i); try { s.splice(0, 50); s.concat([1]); s.flat(); s.map((x) => x) } catch {} return s.length`,
    value: 100,
    inV8: 50,
  },
  'a view beyond its end': {
    code: `const v = new DataView(new ArrayBuffer(8)); return [-1, 8, 2 ** 31, 2 ** 53, NaN, 7.9].map((i) => { try { return v.getFloat64(i) } catch (e) { return e.name } })`,
    value: ['RangeError', 'RangeError', 'RangeError', 'RangeError', 0, 'RangeError'],
  },
  'a pattern that is changed while it matches': {
    code: `const r = /a*?/g; r.lastIndex = { valueOf() { r.compile('((((.){9}){9}){9})*', 'g'); return 0 } }; try { r.exec('a'.repeat(99)) } catch {} return 'alive'`,
    value: 'alive',
  },
  'a string that is too long to be counted': {
    code: `const e = []; for (const act of [() => 'x'.repeat(2 ** 31), () => 'x'.padEnd(-1 >>> 0), () => new Array(2 ** 32), () => new Uint8Array(-1)]) try { act(); e.push('made') } catch (x) { e.push(x.name) } return e`,
    value: Array(4).fill('RangeError'),
  },
}

/** Ways into the bridge: to other calls, other answers, other lines. */
const bridge: Record<string, Escape> = {
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
  'a prototype polluted by merging a result': {
    code: `const merge = (to, from) => { for (const k of Object.keys(from)) { if (typeof from[k] === 'object') merge(to[k] ?? (to[k] = {}), from[k]); else to[k] = from[k] } }
      merge({}, await tool('a:b', JSON.parse('{"__proto__":{"tool":"evil:x","args":"{}","ok":false,"end":{"ok":true},"calls":[],"zero":"evil:x"}}')))
      await mcp.c.d({ n: 1 }); return ({}).tool`,
    value: 'evil:x',
    calls: [
      {
        tool: 'a:b',
        args: '{"__proto__":{"tool":"evil:x","args":"{}","ok":false,"end":{"ok":true},"calls":[],"zero":"evil:x"}}',
      },
      { tool: 'c:d', args: '{"n":1}' },
    ],
  },
  'every object made a thenable': {
    code: `Object.prototype.then = function (ok) { delete Object.prototype.then; ok('mine') }
      const first = await mcp.a.b({ n: 1 }); return [first, await mcp.c.d({ n: 2 })]`,
    value: ['mine', { n: 2 }],
    calls: [
      { tool: 'a:b', args: '{"n":1}' },
      { tool: 'c:d', args: '{"n":2}' },
    ],
  },
  'a thenable that answers twice, and then throws': {
    code: `return await { then(ok, no) { ok({ then(again) { again('inner'); again('more') } }); ok('twice'); no('never'); throw 1 } }`,
    value: 'inner',
  },
  'a generator that does not return': {
    code: `const g = (function* () { try { yield mcp.a.b({ n: 1 }) } finally { yield typeof process } })(); await g.next().value
      const h = (async function* () { yield 1 })(); return [g.return(1).value, (await h.return({ then(ok) { ok(typeof process) } })).value]`,
    value: ['undefined', 'undefined'],
    calls: [{ tool: 'a:b', args: '{"n":1}' }],
  },
  'a call in the name of another': {
    code: `await tool('a:b","{}"],["evil:x', { n: 1 }); await tool('a:b\\n{"calls":[["evil:x","{}"]],"logs":[]}\\n', {}); return 1`,
    value: 1,
    calls: [
      { tool: 'a:b","{}"],["evil:x', args: '{"n":1}' },
      { tool: 'a:b\n{"calls":[["evil:x","{}"]],"logs":[]}\n', args: '{}' },
    ],
  },
  'a call with a number, a program or a task of its own': {
    code: `await tool('metier:program', { code: 'return 1', call: 7, task: 't', ask: false }, { code: 'x' }); return await tool('metier:timer', {}).catch((e) => e.code)`,
    value: 'INVALID_INPUT_PARAM',
    calls: [
      { tool: 'metier:program', args: '{"code":"return 1","call":7,"task":"t","ask":false}' },
      { tool: 'metier:timer', args: 'null', refused: 'a timer is set with sleep() or setTimeout()' },
    ],
  },
  'arguments that are more than JSON': {
    code: `const text = typeof JSON.rawJSON === 'function' ? (() => { try { return JSON.rawJSON('1],["evil:x","{}"]') } catch { return 'no' } })() : 'no'
      BigInt.prototype.toJSON = () => '"],["evil:x","{}"'; await mcp.a.b({ text, n: 1n, s: '\\u2028\\n\\0\\ud800' }); return 1`,
    value: 1,
    calls: [{ tool: 'a:b', args: '{"text":"no","n":"\\"],[\\"evil:x\\",\\"{}\\"","s":"\u2028\\n\\u0000\\ud800"}' }],
  },
  'a line of the log that is a turn': {
    code: `console.log('"]],"end":{"ok":true,"value":"1"}}\\n{"calls":[["evil:x","{}"]],"logs":[]}'); console.log({ toString() { return '\\n' } }, '\\u2028')
      const { log } = console; log.call(null, 'x'); return 1`,
    value: 1,
    calls: [],
    logs: [
      { level: 'log', text: '"]],"end":{"ok":true,"value":"1"}}\n{"calls":[["evil:x","{}"]],"logs":[]}' },
      { level: 'log', text: '{} \u2028' },
      { level: 'log', text: 'x' },
    ],
  },
  'an end that is held back': {
    code: `Promise.prototype.constructor = class {}; Promise.prototype.then = function () { return this }; return 1`,
    value: 1,
  },
  'a value that ends the program twice': {
    code: `return { toJSON() { void mcp.a.b({ late: true }); return '"},"end":{"ok":false}' } }`,
    value: '"},"end":{"ok":false}',
    calls: [{ tool: 'a:b', args: '{"late":true}' }],
  },
  'getters of a rejection that nobody handles': {
    code: `Promise.reject({ get name() { throw 1 }, get message() { throw 2 }, get stack() { throw 3 }, toString() { throw 4 } }).finally(() => {}); await mcp.a.b({}); return 1`,
    value: 1,
    calls: [{ tool: 'a:b', args: '{}' }],
  },
  'a timer that is text': {
    code: `return [setTimeout, setInterval, queueMicrotask].map((f) => { try { f('mcp.evil.x()', 1); return 'set' } catch (e) { return e.name } })`,
    value: Array(3).fill('TypeError'),
    calls: [],
  },
  'a timer that answers another call': {
    code: `const id = setTimeout(() => {}, 1); clearTimeout(1); clearTimeout(-1); clearTimeout({ valueOf: () => id }); clearInterval(NaN); const v = await mcp.a.b({ n: 1 }); return v`,
    value: { n: 1 },
  },
  'arguments of the program that pollute': {
    code: `const a = structuredClone(JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":{"y":1}}}')); return [({}).x ?? null, ({}).y ?? null, Object.keys(a)]`,
    value: [null, null, ['constructor']],
    inV8: [null, null, ['__proto__', 'constructor']],
  },
}

export const escapes: Record<string, Escape> = { ...constructors, ...engine, ...memory, ...bridge }

/** What a program may overwrite; the calls after it, and their results, are the same as without. */
export const vandals: Record<string, string> = {
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

/** What Node can do in the box once nothing of ours holds it back any more. */
const ways: Record<string, string> = {
  'the password file': `fs.readFileSync('/etc/passwd')`,
  'the shadow file': `fs.readFileSync('/etc/shadow')`,
  'processes of the host': `fs.readdirSync('/proc')`,
  devices: `fs.readdirSync('/dev')`,
  'temporary files': `fs.readdirSync('/tmp')`,
  'programs of the host': `fs.readdirSync('/usr/bin')`,
  'the shell': `cp.execFileSync('/bin/sh', ['-c', 'true'])`,
  'a child process': `cp.execFileSync('/box/node', ['--version'])`,
  'a worker’s new file': `fs.writeFileSync('/box/inside/child.ts', '')`,
  'a file in the root': `fs.writeFileSync('/x', 'x')`,
  'a folder in the root': `fs.mkdirSync('/x')`,
  'another owner': `process.setuid(0)`,
  'a unix socket': `await new Promise((ok, no) => net.connect('/run/dbus/system_bus_socket').on('connect', ok).on('error', no))`,
  'an abstract socket': `await new Promise((ok, no) => net.connect('\\0x').on('connect', ok).on('error', no))`,
  'a listening port': `await new Promise((ok, no) => net.createServer().listen(0, ok).on('error', no))`,
  'a datagram': `await new Promise((ok, no) => { const s = dgram.createSocket('udp4'); s.on('error', no); s.send('x', 53, '127.0.0.1', (e) => e ? no(e) : ok()) })`,
  'names of the network': `await dns.promises.lookup('localhost.localdomain.example')`,
  'a core dump’s size': `if (process.report.getReport().userLimits.core_file_size_blocks.hard === 0) throw 1`,
  'a database file': `new (require('node:sqlite').DatabaseSync)('/x.db').exec('create table t (a)')`,
}

const tried = Object.entries(ways).map(
  ([name, code]) => `await (async () => { ${code} })().then(() => found.push(${JSON.stringify(name)}), () => {})`,
)
/** A text for Node that tries them all and says which were open. */
export const attempts = `const fs = require('node:fs'), cp = require('node:child_process'), net = require('node:net'), dgram = require('node:dgram'), dns = require('node:dns')
  ;(async () => { const found = []; ${tried.join('\n')}
  process.stdout.write(JSON.stringify({ found, uid: process.getuid(), pid: process.pid, root: fs.readdirSync('/'), env: process.env }))
  process.exit() })()`

test('there are more than sixty ways that are tried', () => {
  assert(Object.keys(escapes).length >= 60, String(Object.keys(escapes).length))
  assert(Object.keys(vandals).length >= 15)
})
