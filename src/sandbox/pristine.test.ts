/**
 * A program cannot tell whether its engine is new or was put back after another program, whatever
 * that one left behind.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { mock, test } from 'node:test'
import { QuickJS } from 'quickjs-wasi'
import { escapes, vandals } from './escape-programs.test.ts'
import { extensionNames } from './inside/engine.ts'
import { loadEngine } from './inside/load-engine.ts'
import { createMachine, type Machine, type MachineLimits } from './inside/machine.ts'
import { stateOf } from './module-code.test.ts'
import { startOptions } from './play.test.ts'
import { bootMessage, checkProgram } from './program.ts'
import { dice, randomProgram } from './random-programs.test.ts'

const { boot } = bootMessage(null)
const parts = await loadEngine(boot, () => {})
const engines = new WeakMap<Machine, QuickJS>()

/** With a look into its memory, which the box never has. */
async function make(limits: Partial<MachineLimits> = {}): Promise<Machine> {
  const create = mock.method(QuickJS, 'create')
  const machine = await createMachine(parts, { ...boot.machine, ...limits }, true)
  engines.set(machine, await create.mock.calls[0]!.result!)
  create.mock.restore()
  return machine
}

const memoryOf = (machine: Machine) => Buffer.from(engines.get(machine)!._getMemory().buffer)

/**
 * Every turn as the box would send it; each call is answered with its arguments, the latest first.
 */
async function turnsOf(machine: Machine, code: string, args = '{}', answersMax = 100): Promise<string[]> {
  const { start } = checkProgram(startOptions(code, { args }))
  const turns = [await machine.start(start)]
  const open: [number, string][] = []
  let issued = 0
  for (let answered = 0; !machine.over; answered += 1) {
    for (const [tool, args] of JSON.parse(turns.at(-1)!).calls)
      open.push([++issued, tool === 'metier:timer' ? 'null' : args])
    const next = open.pop()
    if (next === undefined || answered === answersMax) break
    turns.push(
      await machine.deliver({ call: next[0], ok: answered % 5 !== 4, text: next[1], now: start.now + answered }),
    )
  }
  return turns
}

/** Tells all that a program can learn of the engine it is in. */
const probe = `const seen = new Set(), lines = []
  const visit = (value, path) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return lines.push(path + ' ' + String(value))
    if (seen.has(value)) return
    seen.add(value)
    lines.push(path + ' ' + Object.isFrozen(value) + Object.isExtensible(value))
    visit(Object.getPrototypeOf(value), path + '.__proto__')
    for (const key of Reflect.ownKeys(value)) {
      const { get, set, value: own, ...flags } = Reflect.getOwnPropertyDescriptor(value, key)
      lines.push(path + '.' + String(key) + JSON.stringify(flags))
      for (const one of [get, set, own]) visit(one, path + '.' + String(key))
    }
  }
  visit(globalThis, '')
  let url, decoded, frames
  try { url = new URL('../b?c=1#d', 'https://a.example/x/y'); url.searchParams.append('e', 'é') } catch (e) { url = String(e) }
  try { decoded = new TextDecoder().decode(new TextEncoder().encode('é😀')) } catch (e) { decoded = String(e) }
  try { frames = new Error('here').stack } catch (e) { frames = String(e) }
  const rows = [], pattern = /(.)b/g
  for (let i = 0; i < 50; i++) rows.push({ i: (i * 7919) % 50, text: 'r' + i })
  console.log(pattern.exec('abab'), pattern.lastIndex, RegExp.$1, Symbol.keyFor(Symbol.for('left')), typeof left)
  const answer = await mcp.a.b({ random: Math.random(), id: crypto.randomUUID(), at: Date.now(), zone: new Date().getTimezoneOffset() })
  let code
  try { await Promise.all([tool('c:d', {}), sleep(3), mcp.e.f(), mcp.g.h()]) } catch (e) { code = e.code }
  return [lines, String(url), decoded, frames, rows.sort((a, b) => a.i - b.i), answer, code, structuredClone(new Map([[1, new Date(5)]])).size]`

const told = await turnsOf(await make(), probe)

test('the probe tells much', () => {
  const { end } = JSON.parse(told.at(-1)!)
  assert(end.ok, JSON.stringify(end))
  assert(JSON.parse(end.value)[0].length > 2000)
})

/** What a program might leave for the next one, besides all that the tests of escapes do. */
const leavers: Record<string, string> = {
  globals: `globalThis.left = 1; var alsoLeft = 2; Object.prototype.left = 3; Symbol.for('left'); globalThis[Symbol.for('left')] = 4`,
  'an eval in the global scope': `(0, eval)('var left = 1; let lexical = 2; function named() {} ; class Left {}')`,
  'promises that wait': `globalThis.wait = [mcp.x.y(), sleep(1e6), new Promise(() => {})]; await mcp.stop.here()`,
  'jobs without end': `(async () => { for (;;) await mcp.again.and({ n: 1 }) })(); setInterval(() => mcp.tick.tock(), 1); await new Promise(() => {})`,
  'calls that wait for a place': `for (let i = 0; i < 500; i++) mcp.a.b({ i }).catch(() => {}); await new Promise(() => {})`,
  'rejections that nobody handles': `for (let i = 0; i < 200; i++) Promise.reject(new Error('left ' + i)); await mcp.a.b({})`,
  'a rejection that comes after the turn was told': `Promise.reject({ toString() { Promise.resolve().then(() => { throw new Error('left') }); return 'x' } }); await new Promise(() => {})`,
  'a rejection that is handled late': `const p = Promise.reject(1); await mcp.a.b({}); p.catch(() => {}); await new Promise(() => {})`,
  'lines of the log': `for (let i = 0; i < 2000; i++) console.log('left', i); await mcp.a.b({})`,
  'a state of chance': `for (let i = 0; i < 1000; i++) Math.random(); crypto.getRandomValues(new Uint8Array(1000)); Math.random = () => 4`,
  'regular expressions': `const p = /(.)(.)/g; p.exec('left'); RegExp.prototype.lastIndex = 7; for (let i = 0; i < 200; i++) new RegExp('(a|b' + i + ')+').exec('ab' + i)`,
  'shapes and atoms': `for (let i = 0; i < 1000; i++) globalThis['left' + i] = { ['a' + i]: i, ['b' + i]: Symbol('s' + i) }`,
  'strings of many sizes': `globalThis.left = Array.from({ length: 60 }, (_, i) => 'é'.repeat(i * i)); globalThis.big = new Uint8Array(3e5).fill(0xaa)`,
  'rubbish that is not collected yet': `for (let i = 0; i < 300; i++) { const a = {}, b = { a }; a.b = b }`,
  URLs: `globalThis.left = Array.from({ length: 50 }, (_, i) => new URL('https://left' + i + '.example/' + 'x'.repeat(i)))`,
  'a decoder in the middle of a character': `globalThis.left = new TextDecoder(); left.decode(new Uint8Array([0xf0, 0x9f]), { stream: true })`,
  'frozen built-ins': `for (const name of Object.getOwnPropertyNames(globalThis)) try { Object.freeze(globalThis[name]?.prototype) } catch {}; Object.preventExtensions(globalThis)`,
  'generators in the middle': `globalThis.left = (function* () { try { yield 1 } finally { mcp.late.call() } })(); left.next()`,
  'a stack of errors': `Error.stackTraceLimit = 1; Error.prepareStackTrace = () => 'left'; try { null.x } catch (e) { globalThis.left = e }`,
  'time in another zone': `new Date(2026, 6, 1).toString(); Date.prototype.getTimezoneOffset = () => 5; Date.now = () => 1`,
  'a program that throws': `throw Object.assign(new Error('left'), { left: new Map() })`,
  'a value that cannot be said': `const a = {}; a.a = a; return a`,
  'work until the counter is near its end': `for (let i = 0; i < 9990; i++);`,
}

const programs: [string, string][] = [
  ...Object.entries(leavers),
  ...Object.entries(escapes).map(([name, { code }]): [string, string] => [name, code]),
  ...Object.entries(vandals).map(([name, code]): [string, string] => [name, `${code}\nawait mcp.a.b({ n: 1 })`]),
  ...Array.from({ length: 40 }, (_, seed): [string, string] => [`dice ${seed}`, randomProgram(dice(seed))]),
]

test('outside its memory, an engine has its stack pointer and nothing else that code can change', () => {
  const bytesOf = (name: string) => readFileSync(createRequire(import.meta.url).resolve(`quickjs-wasi/${name}`))
  assert.deepEqual(stateOf(bytesOf('quickjs.wasm')), ['global.set __stack_pointer', 'memory.grow 0'])
  for (const name of extensionNames)
    assert.deepEqual(stateOf(bytesOf(`${name}.so`)), ['global.set env.__stack_pointer'])
})

test('two new engines have the same memory, and so has one that was put back before anything happened', async () => {
  const [one, other] = [await make(), await make()]
  assert(memoryOf(one).equals(memoryOf(other)))
  assert(one.reset())
  assert(memoryOf(one).equals(memoryOf(other)))
})

test('an engine that was put back is a new one: the same bytes, and the same for whoever comes next', async () => {
  const pristine = Buffer.from(memoryOf(await make()))
  const afterProbe = await make()
  await turnsOf(afterProbe, probe)
  let machine = await make()
  const grown: string[] = []
  for (const [name, code] of programs) {
    await turnsOf(machine, code, '{}', 20)
    if (!machine.reset()) {
      grown.push(name)
      machine = await make()
      continue
    }
    assert(memoryOf(machine).equals(pristine), `${name}: the memory is as it was`)
    assert.equal(machine.over, false)
    if (!(name in leavers)) continue
    assert.deepEqual(await turnsOf(machine, probe), told, `${name}: the next program learns nothing`)
    assert(memoryOf(machine).equals(memoryOf(afterProbe)), `${name}: the next program leaves what it always leaves`)
    if (!machine.reset()) machine = await make()
  }
  assert(grown.length <= programs.length / 10, `most engines serve again, but not after: ${grown.join(', ')}`)
})

test('every program does in an engine that was put back what it does in a new one', async () => {
  let used = await make()
  for (const [name, code] of programs) {
    const fresh = await make()
    assert.deepEqual(await turnsOf(used, code), await turnsOf(fresh, code), name)
    assert(memoryOf(used).equals(memoryOf(fresh)), name)
    if (!used.reset()) used = await make()
  }
})

/** Each says with `args.n` how far it goes; one step further, and a limit is met. */
const edges: Record<string, { code: string; limits: Partial<MachineLimits> }> = {
  memory: { code: `globalThis.a = new Uint8Array(args.n); return 1`, limits: { memoryBytesMax: 700_000 } },
  stack: { code: 'let n = 0; const f = () => { n++; if (n < args.n) f() }; f(); return n', limits: {} },
  ticks: { code: 'for (let i = 0; i < args.n; i++); return 1', limits: { ticksPerTurnMax: 5 } },
}

async function edgeOf(code: string, machineOf: () => Promise<Machine>): Promise<number> {
  let [low, high] = [0, 2 ** 20]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    const [turn] = await turnsOf(await machineOf(), code, JSON.stringify({ n: middle }))
    if (turn!.includes('"limit"')) high = middle
    else low = middle
  }
  return low
}

for (const [name, { code, limits }] of Object.entries(edges)) {
  test(`the limit of ${name} stands at the same place in an engine that was put back`, async () => {
    const fresh = await edgeOf(code, () => make(limits))
    const used = await edgeOf(code, async () => {
      const machine = await make(limits)
      await turnsOf(
        machine,
        `globalThis.left = new Uint8Array(2e5).fill(1); for (let i = 0; i < 777; i++); await mcp.a.b()`,
      )
      assert(machine.reset())
      return machine
    })
    assert(fresh > 100 && fresh < 2 ** 20 - 1, `${fresh} is an edge`)
    assert.equal(used, fresh)
  })
}

test('an engine in which something went wrong, or whose memory grew, serves no other program', async () => {
  const ends: Record<string, [string, Partial<MachineLimits>]> = {
    ticks: ['for (;;);', { ticksPerTurnMax: 5 }],
    memory: [`'x'.repeat(2 ** 29)`, {}],
    stack: ['(function f() { return f() + 1 })()', {}],
    'a grown memory': [`globalThis.a = new Uint8Array(4e6)`, {}],
  }
  for (const [name, [code, limits]] of Object.entries(ends)) {
    const machine = await make(limits)
    await turnsOf(machine, code)
    assert.equal(machine.reset(), false, name)
  }
  const unreadable = await make()
  const { start } = checkProgram(startOptions('return 1'))
  assert.match(await unreadable.start({ ...start, source: '(' }), /"thrown":"SyntaxError/)
  assert.equal(unreadable.reset(), false)
})
