/** Exploring: every branch of a program is known here, and the paths that are found are counted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject, RunId } from '#model'
import { caller, effects, openSpace, workspace } from '#test'
import type { Verbs } from '#verbs'

type Path = {
  calls: { tool: string; args: Json }[]
  because: string[]
  mocks: JsonObject
  result?: Json
  preview?: string
  bytes?: number
  error?: JsonObject
}
type Graph = { nodes: JsonObject[]; edges: JsonObject[] }
type Found = { paths: Path[]; graph: Graph; uncovered: string[]; isWhole: boolean }

async function explore(verbs: Verbs, plan: string | object[], more: object = {}): Promise<Found> {
  const implementation = typeof plan === 'string' ? { type: 'code', code: plan } : { type: 'dag', tasks: plan }
  const answer = await verbs.execute({ implementation, mode: 'explore', ...more }, caller)
  assert.equal(answer.status, 'done', JSON.stringify(answer))
  const { value } = await verbs.result({ run: answer.run, limit: 100 }, caller)
  return value as unknown as Found
}

const read = `const r = await mcp.fx.read({ key: 'k' });\n`

test('explore finds every path of programs whose branches are known, and nothing is called', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const programs: [name: string, code: string, results: Json[]][] = [
    ['straight', `${read}return 1`, [1]],
    ['truth', `${read}return r.value ? 1 : 2`, [1, 2]],
    ['nested', `${read}if (r.a) { if (r.b) return 1; return 2 } return 3`, [1, 2, 3]],
    ['both needed', `${read}if (r.a && r.b) return 1; return 2`, [1, 2]],
    ['equality', `${read}if (r.s === 'x') return 1; if (r.s === 'y') return 2; return 3`, [1, 2, 3]],
    ['order', `${read}if (r.n > 10) return 1; if (r.n > 5) return 2; return 3`, [1, 2, 3]],
    ['switch', `${read}switch (r.kind) { case 'a': return 1; case 'b': return 2; default: return 3 }`, [1, 2, 3]],
    ['nothing', `${read}return (r.value ?? null) === null ? 1 : 2`, [1, 2]],
    ['count', `${read}const l = r.list ?? []; if (l.length >= 2) return 1; return l.length === 1 ? 2 : 3`, [1, 2, 3]],
    [
      'failure',
      `try { await mcp.fx.flaky({ key: 'a', failures: 1 }) } catch (e) { return e.code } return 1`,
      [1, 'TOOL_ERROR'],
    ],
    ['caught', `return await mcp.fx.read({ key: 'a' }).then(() => 1).catch(() => 2)`, [1, 2]],
    [
      'settled',
      `const [s] = await Promise.allSettled([mcp.fx.read({ key: 'a' })]); return s.status === 'fulfilled' ? 1 : 2`,
      [1, 2],
    ],
    ['arguments', `if (args.env === 'production') return 1; return args.force ? 2 : 3`, [1, 2, 3]],
    [
      'each',
      `${read}let n = 0; for (const one of r.list ?? []) { if (one.on) n += 1; else n += 2 } return n`,
      [0, 1, 2],
    ],
    ['some', `${read}return (r.list ?? []).some((one) => one.age > 17) ? 1 : 2`, [1, 2]],
    ['type', `${read}return typeof r.v === 'string' ? 1 : Array.isArray(r.v) ? 2 : 3`, [1, 2, 3]],
    ['member', `${read}return 'k' in r && Object.hasOwn(r, 'z') ? 1 : 2`, [1, 2]],
    [
      'loop',
      `let next = (await mcp.fx.read({ key: 'a' })).next, n = 0; while (next) { n += 1; next = (await mcp.fx.read({ key: 'b' })).next } return n`,
      [0, 1, 2, 3],
    ],
    [
      'combined',
      `${read}const a = r.a ? 1 : 0, b = r.b ? 2 : 0, c = args.c ? 4 : 0; return a + b + c`,
      [0, 1, 2, 3, 4, 5, 6, 7],
    ],
    [
      'two calls',
      `${read}const s = await mcp.fx.read({ key: 's' }); if (r.ok && s.ok) return 1; if (r.ok) return 2; return s.ok ? 3 : 4`,
      [1, 2, 3, 4],
    ],
    [
      'broken by what is missing',
      `${read}if (r.list[0].state === 'open' && r.list.length > 2) return 1; return 2`,
      ['PROGRAM_ERROR', 1, 2],
    ],
    ['a text', `${read}return r.tag.startsWith('v') ? 1 : r.tag.includes('beta') ? 2 : 3`, ['PROGRAM_ERROR', 1, 2, 3]],
    ['one of', `${read}return ['a', 'b'].includes(r.kind) ? 1 : 2`, [1, 2]],
    ['two functions', `return await mcp.fx.read({ key: 'a' }).then(() => 1, () => 2)`, [1, 2]],
    ['chain', `${read}switch (true) { case r.n > 10: return 1; case r.n > 5: return 2; default: return 3 }`, [1, 2, 3]],
    ['thrown', `${read}if (r.bad) throw new Error('no'); return 1`, [1, 'PROGRAM_ERROR']],
    [
      'given up',
      `for (let i = 0; i < 2; i++) try { await mcp.fx.read({ key: 'a' }); return i } catch {} return 'gave up'`,
      [0, 1, 'gave up'],
    ],
    ['loud', `for (let i = 0; i < 2000; i++) console.log(i);\n${read}return r.value ? 1 : 2`, [1, 2]],
    ['stuck', `while (true) await mcp.fx.read({ key: 'a' })`, ['BUDGET_EXCEEDED']],
    ['busy', `${read}if (r.a) while (true) {} return 1`, ['SANDBOX_RESOURCE_LIMIT', 1]],
  ]
  for (const [name, code, results] of programs) {
    const { paths } = await explore(verbs, code)
    const found = [...new Set(paths.map(({ result, error }) => JSON.stringify(error?.code ?? result)))].sort()
    assert.deepEqual(found, results.map((result) => JSON.stringify(result)).sort(), `${name}: ${JSON.stringify(paths)}`)
  }
  assert.deepEqual(effects(space), [])
})

test('explore tells what leads into each path, with mocks that lead there again, the same every time', async (t) => {
  const verbs = await openSpace(workspace(t))
  const code = `${read}if (r.value === 'go') {\n  await mcp.fx.put({ key: 'k', value: 1 })\n  return 'went'\n}\nreturn args.loud ? 'LOUD' : 'quiet'`
  const found = await explore(verbs, code)
  const { paths, graph } = found
  assert.deepEqual([found.isWhole, found.uncovered], [true, []])
  assert.deepEqual(
    paths.map(({ result }) => result),
    ['quiet', 'went', 'LOUD'],
  )
  const [quiet, went, loud] = paths as [Path, Path, Path]
  assert.deepEqual(quiet.because, ["line 2: r.value === 'go' is false", 'line 6: args.loud is false'])
  assert.deepEqual(went.because, ['call 1 (fx:read) answers {"value":"go"}', "line 2: r.value === 'go' is true"])
  assert.deepEqual(went.calls, [
    { tool: 'fx:read', args: { key: 'k' } },
    { tool: 'fx:put', args: { key: 'k', value: 1 } },
  ])
  assert.deepEqual(loud.mocks, { args: { loud: true } })
  const wrong = `${read}return r.error ? 'wrong' : 'right'`
  for (const each of [code, wrong]) {
    for (const { mocks, result } of (await explore(verbs, each)).paths) {
      const implementation = { type: 'code', code: each }
      const again = await verbs.execute({ implementation, mode: 'dry-run', mocks }, caller)
      assert.deepEqual(again.result, result, JSON.stringify(mocks))
    }
  }
  const labels = graph.edges.map(({ from, to, label, paths: by }) => `${from} -${label ?? ''}-> ${to} ${by}`)
  assert.deepEqual(labels, [
    'start --> fx:read #1 1,2,3',
    'fx:read #1 --> b2 1,2,3',
    'b2 -is false-> b4 1,3',
    'b4 -is false-> done 1',
    'b2 -is true-> fx:put #1 2',
    'fx:put #1 --> done 2',
    'b4 -is true-> done 3',
  ])
  assert.deepEqual(await explore(verbs, code), found)
})

test('explore names what no path led into, and is not whole then', async (t) => {
  const verbs = await openSpace(workspace(t))
  const code = `${read}if (/^v\\d+$/.test(r.tag)) { if (r.deep) return 1; return 2 }
    try { JSON.parse('{}') } catch { return 3 }
    switch (Math.sign(r.n)) { case 7: case 8: return 4 }
    for (const one of []) await mcp.fx.put({ key: 'k', value: one })
    return r.big ? 'x'.repeat(20000) : 5`
  const { paths, uncovered, isWhole } = await explore(verbs, code)
  assert.equal(isWhole, false)
  assert.deepEqual(uncovered, [
    'line 2: /^v\\d+$/.test(r.tag) is true',
    'line 3: what is tried fails',
    'line 4: Math.sign(r.n) is case 7',
    'line 4: Math.sign(r.n) is case 8',
    'line 5: the loop has something to do',
  ])
  const large = paths.find(({ bytes }) => bytes !== undefined)
  assert.deepEqual([large?.bytes, large?.preview?.length], [20_002, 240], 'a large result would hide the paths')
  const unread = await explore(verbs, `// ${'x'.repeat(70_000)}\n${read}return r.a ? 1 : 2`)
  assert.deepEqual(
    [unread.paths.length, unread.isWhole],
    [1, false],
    'of what cannot be read nothing is said to be all',
  )
})

test('explore walks graphs: conditions, items and the programs in them', async (t) => {
  const verbs = await openSpace(workspace(t))
  const tasks = [
    { id: 'r', tool: 'fx:read', arguments: { key: 'k' } },
    {
      id: 'yes',
      tool: 'fx:put',
      arguments: { key: 'y', value: 1 },
      when: { $from: 'r', path: '/value', equals: 'go' },
    },
    { id: 'code', type: 'code_execution', code: 'const x = await mcp.fx.read({ key: "in" }); return x.deep ? 1 : 2' },
  ]
  const { paths } = await explore(verbs, tasks)
  const said = paths.map(({ calls, result }) => `${calls.map(({ tool }) => tool).join(' ')} ${JSON.stringify(result)}`)
  assert.equal(paths.length, 4, said.join('\n'))
  assert.equal(said.filter((one) => one.includes('fx:put')).length, 2)
  assert.ok(paths.some(({ because }) => because.some((one) => /^task "yes" when .*"go".* is true$/.test(one))))
  const there = await explore(verbs, [
    { id: 'r', tool: 'fx:read', arguments: { key: 'k' } },
    { id: 'n', tool: 'fx:put', arguments: { key: 'y', value: 1 }, when: { $from: 'r', path: '/x', exists: true } },
  ])
  assert.deepEqual(
    there.paths.map(({ calls }) => calls.length),
    [1, 2],
  )
  const items = await explore(
    verbs,
    [
      { id: 'r', tool: 'fx:read', arguments: { key: 'k' } },
      { id: 'each', tool: 'fx:read', arguments: { key: 'one' }, forEach: { $from: 'r', path: '/list' } },
    ],
    { mocks: { calls: { 1: { list: [] } } } },
  )
  assert.deepEqual(
    items.paths.map(({ calls }) => calls.length),
    [1, 2],
  )
})

test('explore assumes nothing of a result that the tool says it never answers', async (t) => {
  const properties = { state: { enum: ['open', 'closed'] }, at: { type: 'string', format: 'date-time' } }
  const OUTPUT = JSON.stringify({ type: 'object', properties, required: ['state', 'at'] })
  const verbs = await openSpace(workspace(t, { env: { OUTPUT } }))
  const code = `${read}if (r.state === 'lost') return 'lost'
    if (!r.at) return 'no time'
    return r.state === 'closed' ? new Date(r.at).getUTCFullYear() : 'open'`
  const { paths } = await explore(verbs, code)
  assert.deepEqual(paths.map(({ result }) => result).sort(), [2026, 'open'])
})

test('explore stops at maxBranches and says so, refuses what policy denies on every path, and is a run like any other', async (t) => {
  const rules = [
    { tool: 'fx:add', then: 'deny' },
    { tool: 'fx:*', then: 'allow' },
  ]
  const verbs = await openSpace(workspace(t, { config: { policy: { permissions: 'standard', rules } } }))
  const many = `${read}return [r.a ? 1 : 0, r.b ? 1 : 0, r.c ? 1 : 0, r.d ? 1 : 0]`
  const { paths, isWhole } = await explore(verbs, many, { maxBranches: 5 })
  assert.deepEqual([paths.length, isWhole], [5, false])
  assert.equal((await explore(verbs, many, { maxBranches: 20 })).paths.length, 16)
  const denied = await explore(verbs, `${read}return r.a ? await mcp.fx.add({ key: 'a', by: 1 }) : 1`)
  assert.deepEqual(
    denied.paths.map(({ error }) => error?.code ?? null),
    [null, 'PERMISSION_DENIED'],
  )
  const answer = await verbs.execute(
    { implementation: { type: 'code', code: `${read}return r.a ? 1 : 2` }, mode: 'explore' },
    caller,
  )
  assert.deepEqual(
    verbs.eventsOf(answer.run as RunId).map(({ type }) => type),
    ['run.started', 'run.finished'],
  )
  assert.equal((await verbs.replay(String(answer.run))).ok, true)
  await assert.rejects(
    verbs.execute({ implementation: { type: 'code', code: 'return 1' }, mode: 'explore', maxBranches: 0 }, caller),
    { code: 'INVALID_INPUT_PARAM' },
  )
})
