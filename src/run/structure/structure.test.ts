/**
 * What is read from a program's text: its calls and where their arguments come from, its branches,
 * loops and parallel groups.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepareProgram } from '#sandbox'
import { type CallNode, type Structure, structureOf } from './structure.ts'

type ReadStructure = Extract<Structure, { known: true }>

function read(code: string): ReadStructure {
  const structure = structureOf(prepareProgram(code).source)
  assert.ok(structure.known, JSON.stringify(structure))
  return structure
}

const calls = (code: string) => read(code).nodes.filter((node): node is CallNode => node.kind === 'call')
const tools = (code: string) => calls(code).map((call) => call.tools.join('|') || '?')
const flows = (code: string) => {
  const { nodes, flows: found } = read(code)
  const name = (id: string) => {
    const node = nodes.find((candidate) => candidate.id === id)
    return node?.kind === 'call' ? node.tools.join('|') : id
  }
  return found.map(
    ({ from, fromPath, to, toPath, exact }) => `${name(from)}${fromPath} ${exact ? '→' : '~'} ${name(to)}${toPath}`,
  )
}

test('structureOf() finds the tools that a program may call, however it names them', () => {
  const table: [code: string, tools: string[]][] = [
    ['await mcp.fs.read({})', ['fs:read']],
    ['await mcp["fs"]["read"]({})', ['fs:read']],
    ['await tool("fs:read", {})', ['fs:read']],
    ['await cap.weekly({})', ['cap:weekly']],
    ['const fs = mcp.fs; await fs.read()', ['fs:read']],
    ['const { read, list: show } = mcp.fs; await read(); await show()', ['fs:read', 'fs:list']],
    ['const { fs: { read } } = mcp; await read()', ['fs:read']],
    ['const s = "fs", t = `re${"ad"}`; await mcp[s][t]()', ['fs:read']],
    ['const call = tool; await call("a:" + "b")', ['a:b']],
    ['const f = args.x ? mcp.a.b : mcp.a.c; await f()', ['a:b|a:c']],
    ['for (const t of ["a:b", "a:c"]) await tool(t)', ['a:b|a:c']],
    ['const api = { get: mcp.a.b }; await api.get()', ['a:b']],
    ['const go = (m) => m.fs.read(); await go(mcp)', ['fs:read']],
    ['await Promise.all(args.ids.map(mcp.fs.read))', ['fs:read']],
    ['await mcp?.fs?.read?.({})', ['fs:read']],
    ['const x: { a: number } = await mcp.fs.read({}) as never; return x', ['fs:read']],
    ['await mcp[args.server].read()', ['?']],
    ['await tool(args.tool)', ['?']],
    ['let s = "a"; s = args.s; await mcp[s].read()', ['?']],
    ['const mcp2 = { fs: { read() {} } }; mcp2.fs.read()', []],
    ['{ const mcp = { a: { b: () => 1 } }; mcp.a.b() }', []],
    ['function f() { return f() } await f()', []],
  ]
  for (const [code, expected] of table) assert.deepEqual(tools(code), expected, code)
})

test('structureOf() says when a program may do more than can be read', () => {
  const whole = ['await mcp.a.b()', 'const fs = mcp.fs; await fs.read()', 'return args.list.map((x) => x.y)']
  const open = [
    'const o = [mcp]; o[0].a.b()',
    'eval("1")',
    'return globalThis',
    'Object.values({ f: mcp.a })[0].b()',
    'use(mcp.a); function use() {}; later(mcp)',
    'let f = tool; f = mcp.a.b; await f("x:y")',
    'const go = (m) => m.a.b(); await go(mcp); await go({})',
    'const go = (...all) => all[0].a.b(); await go(mcp)',
    'await (async () => {}).constructor("return mcp.a.b()")()',
  ]
  for (const code of whole) assert.equal(read(code).isWhole, true, code)
  for (const code of open) assert.equal(read(code).isWhole, false, code)
})

test('structureOf() names the tools that a program passes on as values', () => {
  const table: [code: string, tools: string[]][] = [
    ['await Object.values({ f: mcp.a.b })[0]()', ['a:b']],
    ['await (0, mcp.a.b)({})', ['a:b']],
    ['await mcp.a.b.call(null, {})', ['a:b']],
    ['const f = mcp.a.b.bind(null, {}); await f()', ['a:b']],
    ['const f = mcp.a.b; return [f, mcp.a.c].length', ['a:b', 'a:c']],
    ['const fs = mcp.fs; await fs.read()', []],
    ['const { read = mcp.fs.list } = mcp.fs; await read()', []],
  ]
  for (const [code, expected] of table) {
    const { handed, isWhole } = read(code)
    assert.deepEqual([handed.flatMap(({ tools }) => tools), isWhole], [expected, true], code)
  }
})

test('structureOf() follows values from results and arguments into the arguments of calls', () => {
  const table: [code: string, flows: string[]][] = [
    ['const a = await mcp.a.get(); await mcp.b.put({ id: a.id })', ['a:get/id → b:put/id']],
    ['const { id: x } = await mcp.a.get(); await mcp.b.put({ v: [x] })', ['a:get/id → b:put/v/0']],
    ['await mcp.b.put(await mcp.a.get())', ['a:get → b:put']],
    ['await mcp.b.put({ path: args.path })', ['args/path → b:put/path']],
    ['const a = await mcp.a.get(); await mcp.b.put({ text: `is ${a.n}` })', ['a:get/n ~ b:put/text']],
    [
      'const [a, b] = await Promise.all([mcp.a.x(), mcp.a.y()]); await mcp.b.put({ a: a.n, b })',
      ['a:x/n → b:put/a', 'a:y → b:put/b'],
    ],
    [
      'const all = await mcp.a.list(); for (const one of all.items) await mcp.b.put({ id: one.id })',
      ['a:list/items/*/id → b:put/id'],
    ],
    [
      'const all = await mcp.a.list(); await Promise.all(all.filter((x) => x.on).map((x) => mcp.b.put({ id: x.id })))',
      ['a:list/*/id → b:put/id'],
    ],
    [
      'const ids = (await mcp.a.list()).map((x) => x.id); await mcp.b.put({ first: ids[0] })',
      ['a:list/*/id → b:put/first'],
    ],
    ['const v = await mcp.a.get().then((r) => r.v); await mcp.b.put({ v })', ['a:get/v → b:put/v']],
    ['const one = (await mcp.a.list()).find((x) => x.on); await mcp.b.put({ id: one.id })', ['a:list/*/id → b:put/id']],
    ['mcp.a.get().then((r) => mcp.b.put({ v: r.v }))', ['a:get/v → b:put/v']],
    [
      'async function get(id) { const r = await mcp.a.get({ id }); return r.value } await mcp.b.put({ v: await get(args.id) })',
      ['args/id → a:get/id', 'a:get/value → b:put/v'],
    ],
    [
      'const out = []; for (const i of args.list) out.push(await mcp.a.get()); await mcp.b.put({ all: out, one: out[0].n })',
      ['a:get ~ b:put/all', 'a:get/n → b:put/one'],
    ],
    ['const o = {}; o.n = (await mcp.a.get()).n; await mcp.b.put({ n: o.n })', ['a:get/n → b:put/n']],
    ['const r = JSON.parse((await mcp.a.get()).text); await mcp.b.put({ v: r.v })', ['a:get/text ~ b:put/v']],
    [
      'let r = await mcp.a.get(); while (r.next) r = await mcp.a.more({ next: r.next }); return r',
      ['a:get/next → a:more/next', 'a:more/next → a:more/next'],
    ],
    ['const [s] = await Promise.allSettled([mcp.a.get()]); await mcp.b.put({ v: s.value.n })', ['a:get/n → b:put/v']],
    ['await mcp.b.put({ ...args.base, n: 1 })', ['args/base → b:put']],
  ]
  for (const [code, expected] of table) assert.deepEqual(flows(code), expected, code)
})

test('structureOf() tells literals with their place', () => {
  const [call] = calls('const key =\n  "k"\nawait mcp.a.b({ key, n: -2, deep: { on: true } })')
  assert.deepEqual(call!.inputs, [
    { path: '/key', source: { kind: 'literal', value: 'k', line: 2, column: 3, exact: true } },
    { path: '/n', source: { kind: 'literal', value: -2, line: 3, column: 25, exact: true } },
    { path: '/deep/on', source: { kind: 'literal', value: true, line: 3, column: 41, exact: true } },
  ])
  assert.deepEqual([call!.line, call!.column], [3, 7])
})

test('structureOf() finds pure operations, of values and of the language', () => {
  const code =
    'const r = await mcp.a.list(); return JSON.stringify(r.filter((x) => Math.max(x.n, 1) > 2).map((x) => x.name.trim().substr(1)).sort())'
  const found = read(code).nodes.flatMap((node) => (node.kind === 'operation' ? [node.operation] : []))
  assert.deepEqual(found, [
    'code:stringify',
    'code:filter',
    'code:max',
    'code:map',
    'code:trim',
    'code:substr',
    'code:sort',
  ])
  assert.deepEqual(read('mine.filter(); const mine = { keys() {} }; Mine.keys(); mine.fetch()').nodes.length, 1)
})

test('structureOf() finds branches, loops and parallel groups, and what stands in them', () => {
  const code = `
    const r = await mcp.a.get()
    if (r.ok) await mcp.b.yes(); else await mcp.b.no()
    const v = r.n > 3 ? await mcp.b.big() : 0
    switch (r.kind) { case 'x': await mcp.b.x(); break; default: await mcp.b.other() }
    try { await mcp.b.try() } catch { await mcp.b.caught() } finally { await mcp.b.last() }
    r.more && await mcp.b.and()
    r.value ?? await mcp.b.else()
    for (let i = 0; i < 3; i++) await mcp.b.loop()
    while (r.next) await mcp.b.again()
    await Promise.all([mcp.b.p(), mcp.b.q()])
    await mcp.b.soft().catch(() => mcp.b.hard())`
  const { nodes } = read(code)
  const places = nodes.flatMap((node) => {
    if (node.kind !== 'call') return []
    const around = nodes.find(({ id }) => id === node.within)
    const form = around === undefined ? '' : 'form' in around ? around.form : around.kind
    return [`${node.tools} ${form}${node.arm === undefined ? '' : ` ${node.arm}`}`.trim()]
  })
  assert.deepEqual(places, [
    'a:get',
    'b:yes if then',
    'b:no if else',
    'b:big ternary then',
    "b:x switch case 'x'",
    'b:other switch default',
    'b:try try try',
    'b:caught try catch',
    'b:last try finally',
    'b:and and then',
    'b:else nullish then',
    'b:loop for',
    'b:again while',
    'b:p all',
    'b:q all',
    'b:soft try try',
    'b:hard try catch',
  ])
  const branch = nodes.find((node) => node.kind === 'branch')!
  assert.deepEqual(branch.kind === 'branch' && [branch.condition, branch.tests], [
    'r.ok',
    [{ of: 'c1', path: '/ok', asks: { kind: 'truth' } }],
  ])
})

test('structureOf() knows what conditions ask of results and arguments', () => {
  const table: [condition: string, asked: string[]][] = [
    ['r.n > 3', ['/n order 3']],
    ['3 <= r.n', ['/n order 3']],
    ['r.s === "a" || args.s !== "b"', ['/s equal a', 'args/s equal b']],
    ['!r.ok && r.list.length', ['/ok truth', '/list items']],
    ['r.list.length >= 2', ['/list count 2']],
    ['r.x == null', ['/x nothing']],
    ['r.x !== undefined', ['/x nothing']],
    ['typeof r.x === "string"', ['/x type string']],
    ['"k" in r', [' member k']],
    ['Object.hasOwn(r, "k")', [' member k']],
    ['Array.isArray(r.x)', ['/x list']],
    ['r.name.includes("x")', ['/name part x']],
    ['r.list.some((x) => x.on)', ['/list items', '/list/*/on truth']],
    ['r.list.filter((x) => x.age > 9).length > 0', ['/list count 0', '/list/*/age order 9']],
    ['(r.a ?? args.b) === limit', ['/a equal 7', 'args/b equal 7']],
  ]
  for (const [condition, expected] of table) {
    const { nodes } = read(`const limit = 7; const r = await mcp.a.get(); if (${condition}) await mcp.b.x()`)
    const found = nodes.find((node) => node.kind === 'branch')
    const tests = found?.kind === 'branch' ? found.tests : []
    const said = tests.map(
      ({ of, path, asks }) => `${of === 'args' ? of : ''}${path} ${asks.kind}${'to' in asks ? ` ${asks.to}` : ''}`,
    )
    for (const one of expected) assert.ok(said.includes(one), `${condition}: ${one} in ${said.join(', ')}`)
  }
})

test('structureOf() reads annotations in both forms', () => {
  const { annotations } = read(
    '// @metier-depends: ["fs:read", "config:load"]\n/* @pml-branches success, error */\nreturn 1 // @metier-branches: []',
  )
  assert.deepEqual(annotations, [
    { kind: 'depends', names: ['fs:read', 'config:load'], line: 1 },
    { kind: 'branches', names: ['success', 'error'], line: 2 },
  ])
})

test('structureOf() never throws, and stays within its bounds on hostile programs', () => {
  const deep = (open: string, close: string, count: number) => `return ${open.repeat(count)}1${close.repeat(count)}`
  const copies = (of: string) => Array.from({ length: 20 }, (_, i) => `k${i}: ${of}`).join()
  const levels = (count: number) =>
    Array.from({ length: count }, (_, i) => `const o${i + 1} = { ${copies(`o${i}`)} };`).join('')
  const hostile = [
    `(async function () {\n${deep('(', ')', 20_000)}\n})`,
    `(async function () {\n${deep('[', ']', 50_000)}\n})`,
    `(async function () {\nreturn args${'.b'.repeat(30_000)}\n})`,
    `(async function () {\nreturn 1${'+1'.repeat(30_000)}\n})`,
    '(async function () {\n not a program',
    `(async function () {\n${'await mcp.a.b({ x: 1 });'.repeat(2500)}\n})`,
    `(async function () {\nlet x = 1;${'x = [x, x].map((y) => f(y, x));'.repeat(500)} function f(a, b) { return x.n ?? f(b, a) }\nawait mcp.a.b({ x })\n})`,
    `(async function () {\nlet x = args;${'x = x.next;'.repeat(3000)}\nawait mcp.a.b({ x })\n})`,
    `(async function () {\n${'const f = (a) => '.repeat(1)}a ${'? a '.repeat(2000)}${': a '.repeat(2000)}\n})`,
    `(async function () {\n${'try { await mcp.a.b(); '.repeat(600)}${'} catch {} '.repeat(600)}\n})`,
    `(async function () {\nconst t = ${Array.from({ length: 40 }, () => '(args.x ? "a" : "b")').join(' + ')}; await tool(t)\n})`,
    `(async function () {\n${'args.list.map((x) => '.repeat(300)}1${')'.repeat(300)}\n})`,
    `(async function () {\nconst o0 = { a: x() };${levels(11)} await mcp.a.b(o11)\n})`,
    `(async function () {\nconst o = {};${Array.from({ length: 20 }, (_, i) => `o.k${i} = { o };`).join('')} await mcp.a.b(o)\n})`,
    `(async function () {\nreturn "${'x'.repeat(1024 * 1024)}"\n})`,
  ]
  for (const source of hostile) {
    const structure = structureOf(source)
    if (structure.known) assert.ok(structure.nodes.length <= 2000, source.slice(0, 80))
    else assert.ok(structure.why.length > 0)
  }
  const many = structureOf(hostile.find((source) => source.includes('{ x: 1 }'))!)
  assert.ok(many.known && !many.isWhole, 'what was left out is said')
})
